// SPDX-License-Identifier: Apache-2.0
import NativeJOSE

/// Keys of providers that exist in these tests only.
enum SigningKeys {
    /// RSA of 2,048 bits.
    static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC4pbKYCkd4U0Vt
        Av/8IdddCXo/5DoOzIr+8A7GXKXiwBlSdyR1iMIy3fLfAcuJHMfwCyHnnbzwhKNO
        LTpJPzmVEboUd3OAvinCwZjVQIVlVwWxSgouiL/yzDQw34EAQt2o0I9JiTvWcAiw
        7/v9yGZOLGIBLEhBq0sJIHeTpCwuVEOiycZGPpjb3Ohohj7Z5TCjTVKRvwcEiA6t
        vOK/gNgF6vE35XTlsYjq2fjbjA2b+w+sVz1/L2zGU9cJydV5zSew/ytitCtmyavp
        ZV4VoVYB+cfrSzsmRlEsVcT35D5xlLfdaOonskavFRV37FyRt8sgiEqB/NKaqwwX
        KzbVRDWvAgMBAAECggEAEXh1ZEb+CdJQgdF5rf33thD/qkw/pVx7aZwGEdpR7xk/
        lsVjbjl717tB+may6YIPICpgJrLj3cVMUZ5xjYeivPTZ7It8IrobZ8F7N/DXDkZv
        E/Njm5E1yX/CZRNooxaF3tio42DNiBW+mhstdmQqhd/+KoqUOvO9nEX1pRhbU8td
        HCKiyoUEkQ7oOkm4RCsxSncqkCasczF6nWPHGUS5Rbg4pLl7jMGyz8AoXm/d7Wsj
        /Es3kNUSw5V6JtFcopoN2YTOd90J32+zZ5fBQTLLh9FxPQICSsv2X3+EXhtP0DXA
        Jw/tTwsO23j/38X6oES4QuQ+RhgUpXR/l+p23nB2oQKBgQDa/7BoS09Rta76UlI+
        bMi7BV2LskUeH+ZmzIpIB6UOrRIrDlt9ydSffV7QMX4xPIxJ48akSVvor7NaDCvv
        7oANoWFPep3bHoWjXC4FigJxSBEYxLaY6lgcLK1ClVqawxQgz5c5pPhHD6yTUYmD
        hR1reUmzYa+lG7YxoolGAI2oTwKBgQDX2DVsU78BbgXbtPrK4Kl9acnx7wKZdbWH
        T7iw31kOfNVmuJJa+wgCpBhhTZZQBvTloyqOIVDTNgccyrgPM7UtA7vjKKgBM8ya
        ZgtLYKJhI9xL4i6iWir/rJPBaGuS1+wL1e/W7yqgo5AyPupT9uTCvTGs1b2EdfiW
        bb/YwInkoQKBgF/jKkNQDifRrA6QctBAY1d3zvC2morJHuGN11IYfs3BO748aBTY
        hU9b3mK7+Ovn/ejwYW5XbHWiUJ4xzB8ex1Swf2IEZw+k+pB/cOsd9VnSWyIEJ4sm
        uHOFoEsSB/zRQ4PmQOmNcOP0WfSa8+HxK+N91KZFNFnPm2N6Li7HWT8DAoGAA63G
        s1L2FXMnnGgIQj70BJQyAfKd67mq32SHdFRKM0oDZR3OOMjAiTL8y2PEJRcJQ4S1
        a/i7ZO4tztrRqkiqVNsUb7m4q1STryoAFUfPXLJ8xbpUKyY4R2VMm2ZJNxaBCm6a
        COLIqjY/devGmKnDmmIZH6YA9eoA06eJNouJjiECgYEAoyAu+CJn5D/CzMjFBxzf
        6ZmcQOwUzvJKCHkqAn5xw6Q1eGznYONJAol+lBa+HwX79t/Bg4DQ4cmprfs7Kx5U
        MLNC6nSgOdw5hGmpHILr2qP35eI/OBukAziv+Jna7Bvms7ZuH3/d3vUZKq9rryCD
        82tEsbBrn7kizeikAgsfdWc=
        -----END PRIVATE KEY-----
        """

    /// Another one, as an attacker or a rotation has it.
    static let otherRSA = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDF8GUv5mmCe3ZP
        meVmL1WH+xV2xbmo+KEneUWd+5WJz4PIx0NjgQZ1mBsyv/nHHRMhAyynR7syA9Qz
        o/kJ0Ug4tJI9QOd5A0VuU1/iStdehwpq0QyEDfxwxz2Lo+cA2Ypb0W0jDPpy6Wz7
        h/Ii5bjdx8Pr7hhUiUAoJKqvxlBDFwTZady4xWQuhOZnjtuBSb3Etk9xRu1+0eo8
        vRdD/zop04mpk0z0uE7zHzDF7pESwGxwrrU8+pyLm/u/MmqNyWaKBiKReVm5cARu
        QEvkKn4yLHH+RP13rnQ6ItAKANnhHMV0lJRabSINo2BP3q9d9H6mjjOeSVmQie8K
        m+jDCeuNAgMBAAECggEAA4PTHePaW6e/dytnhPPyFj1NIDQIPA6OyzK6CYqD9KYJ
        XUYq3q8fOgc3z0iLTXSEpfFbIZGd4ZhGPXlgc9UbW5JtT8+T45ArF/eqV5V2gS9v
        bdm8EKmwWNgPxIMdGBuN+4Aj6qSjtsSJZPk308HRSGCnQ17tO4lbjYQVLCaev0ES
        d1LQC8uAjNr70fTUBTP89Sqj06KExW+aK3zjsl/+T9rmkgpTh2Zj5Xnhjazf/C5G
        O5mIH0J1tOpnAKUfMlFss4odkagk5YWhoXD4ZKhinuUJ2ggQ2R8oODL4QeXIoZc+
        ZP8J0WfhRYHwvPcB8vWBMPz6a+BMp/ZNESYwrk1BgQKBgQDlMmHFjqihmdzMGOGh
        s45+P+gWwhHrRjZaUDISVE3lT1dbwlStgewBIVUwHw0zUP34tBpqD5BvKgMUDulZ
        OXfiYFmO+M89CG0WeNr2kQw3UmPjV1cmaVn5Z2hMsM0C2I/pEw/fmSBY/Vt8puTU
        5sokqJJ4+2wSgLye5+tAmZJSwQKBgQDdFjqWRNAGJLMD/k6kn92PTZY9dp0zoWeo
        MgJ4cR616PjfXuKEm/dedO5uzFajhda5Zq9ZORIqH/FyKofrkf5s7qbpd4MKJVbE
        nowx2YHEvxUlwdzBgS9/IOcRIjtgIoTJuY2j3Gg+LRj/OXmM2q5xY6bK7jAC5DnA
        sYVYGBJnzQKBgQCUB65OQo13kkChMZDJN4dY0z27NS0NoBOK0TEF1Z1Z9ZyejyzR
        w5ACSt0Sb3u/IRhngStuRQ8sPR4v3lGoZw2fEEvHo7t11/NdCEGj7prNQFFzi/2l
        uXV7N+aNYcOHiwenqcAe0m+qCjkEkWZKe6UjeBziNsDeUneAypmO56EyAQKBgEYE
        Kyu5wTOg3byvBhLmuhEPHjx62xAl1qESrWudT3+Gt4JuF0it6CpW18fpGKsS0MzI
        c1HLXDBRC3L/eyokgzHWZq/bdHl7F76PA5Ep9AnuBfF+Mr5pfjRBpEvtzmYEqI8G
        H5A8VhsSxy7U8eSkwMgSKhlsU3Im+w9GaRdcEEAlAoGAO/NMXDGuEi7r2eRV4h3j
        1f7LzeGuSrFUKqSI7W0PnPtFqe80bWGyo4SgkoYDbUnbomKNT88d3/l16udH8Sqy
        yUup89YQQuBUt3nyLgMQTiAS8B+0GBqjojaaLfMA5RJcS8LxyawMpapA245Nytxh
        NTcNHQL8vxmJ0lo7XBnBx7A=
        -----END PRIVATE KEY-----
        """

    /// P-256.
    static let ec = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbZeYHdyvcAxl9EIa
        oLTkDxvaUV3LULLkyn8xh4WUbA6hRANCAASj/7ZY3qHMcyGPtMZr1qRVD/8GxXz5
        FU9UbnQo+YMiCG0SjTTPxhK+FKLCtXCryPkGGRX5QYfLN+cQaq7puWro
        -----END PRIVATE KEY-----
        """

    static func key(_ pem: String, _ algorithm: JOSEAlgorithm) throws -> AssertionKey {
        try AssertionKey(pem: Array(pem.utf8), algorithm: algorithm)
    }
}
