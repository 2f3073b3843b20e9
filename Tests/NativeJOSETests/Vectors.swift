// SPDX-License-Identifier: Apache-2.0
import NativeJOSE
import Testing

/// Signed tokens that others made, with the public keys that verify them.
struct Vector: Sendable, CustomTestStringConvertible {
    let name: String
    let algorithm: JOSEAlgorithm
    let key: String
    let token: String
    var testDescription: String { name }
}

enum Vectors {
    /// RFC 7515, appendix A.1: HS256; the key as base64url.
    static let macKey = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
    static let macToken = """
        eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9\
        leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
        """

    /// RFC 7515, appendixes A.2 to A.4, and RFC 8037, appendix A.4.
    static let published = [
        Vector(
            name: "RFC 7515, A.2", algorithm: .rs256,
            key: """
                {"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPM\
                EzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5\
                rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-D\
                WNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"}
                """,
            token: """
                eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19\
                yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt\
                _O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb\
                1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI\
                8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
                """),
        Vector(
            name: "RFC 7515, A.3", algorithm: .es256,
            key: """
                {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue6\
                59LNpXW6pCyStikYjKIWI5a0"}
                """,
            token: """
                eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19\
                yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU\
                1Q
                """),
        Vector(
            name: "RFC 7515, A.4", algorithm: .es512,
            key: """
                {"kty":"EC","crv":"P-521","x":"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jS\
                fS9tsz4qUxcWceqwQGk","y":"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh\
                9ubmf63e3kyMj2"}
                """,
            token: """
                eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2\
                SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXo\
                lLzeO_Jn
                """),
        Vector(
            name: "RFC 8037, A.4", algorithm: .edDSA,
            key: #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            token: """
                eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6\
                dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg
                """),
    ]

    /// Each algorithm once, made with Python's `cryptography`.
    static let made = [
        Vector(
            name: "RS256", algorithm: .rs256,
            key: """
                {"kty":"RSA","n":"7wF_ojdiLNCSJ_ky6fw0uRdja997NRIFWG-cM0hZWwFygJthqehg239GM9-N7IcrQyC9Vdw87-9rnS750s\
                zs3kc6PgYlB3YQdnSwD4EoFC1hxbQPWe7sJF9Tlmy-N6eT34MevFng7kXSk8_1VVnrJc4jQr2x85DH0AAdumS0KfjNGiVHGrI7TX\
                z1ZGCc1NQj_AgZ1zJeji38Gyr0IqfK3_meDDK-qpAksrqXB4bBuxDVN0Ajlmdu71F9hwnqm_oteibN5u-3xke0yhFDkFktqvsbOL\
                O-8S2nRtPGZgx-fwt2CFtUPpns61zMxwSYuZ67rBJVldv5tdYs_lTxD048lw","e":"AQAB"}
                """,
            token: """
                eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.cwwHXmwtmY3PyGvSxuiLXfaFKAgEud\
                vxOU1wvG2efqCRHcQxWfQQ9lHOd1ou5Y0FVb2fsybpjWxbDOjzi4-JRNzVUr1H1GX3wqBNPnEoeHWiWBcOi-3OwrjzVrqWXKZqA9\
                8ngBqVaR3PXYJxA8Z5xCqFgs-xm_rdKe480yDiGVqwB5Syn7ZGMZkCYbEjAqfXqRslTi6H6lJwWaXk-zzg8Gd2utGungHCmeqYb5\
                FQutrZtMP5e5dSsQEXn7Pp2N7sfUIFNh9TDkX9L8qgXAxhEH-AHe7_eCOWK4SVOmRB6OSePN0O2h0DeXww18YQnf58PfU1ejGn7I\
                OSmmbqDBUE7w
                """),
        Vector(
            name: "PS256", algorithm: .ps256,
            key: """
                {"kty":"RSA","n":"7wF_ojdiLNCSJ_ky6fw0uRdja997NRIFWG-cM0hZWwFygJthqehg239GM9-N7IcrQyC9Vdw87-9rnS750s\
                zs3kc6PgYlB3YQdnSwD4EoFC1hxbQPWe7sJF9Tlmy-N6eT34MevFng7kXSk8_1VVnrJc4jQr2x85DH0AAdumS0KfjNGiVHGrI7TX\
                z1ZGCc1NQj_AgZ1zJeji38Gyr0IqfK3_meDDK-qpAksrqXB4bBuxDVN0Ajlmdu71F9hwnqm_oteibN5u-3xke0yhFDkFktqvsbOL\
                O-8S2nRtPGZgx-fwt2CFtUPpns61zMxwSYuZ67rBJVldv5tdYs_lTxD048lw","e":"AQAB"}
                """,
            token: """
                eyJhbGciOiJQUzI1NiJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.5cnK7XuU8roeLCMrAAz_bcmFPSv_yu\
                Ubiszka2X4VXplLQ7WBHUrrGaVbwMmO9Dtbfplco9lpuI2qdxAcCbMlE_-2EHrCbbjHUOqXt8J5PGzwTIcjaY7mZS5gqm4vZDYBu\
                zGV0gb9sHRtFjNA2CoKSO7St0B8jKe2CLyaYJ2Xpm5aZ7FhsiDb5RaXJGTyzsq1kQWOAsfxOzf7lRzwhRu3KjJ_aqNx5MIvKWC-N\
                FrDU-GEEBMr_4oWBuO09YNy6wlVrPDws4_63X9pQmMOrxo0kLzYanL6qdSs8-OBcM_cGhRHkyt22U9WHN5fbUqLccdQj_Vw7YOny\
                0lW9mruk0ssg
                """),
        Vector(
            name: "RS384", algorithm: .rs384,
            key: """
                {"kty":"RSA","n":"7wF_ojdiLNCSJ_ky6fw0uRdja997NRIFWG-cM0hZWwFygJthqehg239GM9-N7IcrQyC9Vdw87-9rnS750s\
                zs3kc6PgYlB3YQdnSwD4EoFC1hxbQPWe7sJF9Tlmy-N6eT34MevFng7kXSk8_1VVnrJc4jQr2x85DH0AAdumS0KfjNGiVHGrI7TX\
                z1ZGCc1NQj_AgZ1zJeji38Gyr0IqfK3_meDDK-qpAksrqXB4bBuxDVN0Ajlmdu71F9hwnqm_oteibN5u-3xke0yhFDkFktqvsbOL\
                O-8S2nRtPGZgx-fwt2CFtUPpns61zMxwSYuZ67rBJVldv5tdYs_lTxD048lw","e":"AQAB"}
                """,
            token: """
                eyJhbGciOiJSUzM4NCJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.0OkV6R-fNEtpqthcQkk4fwc1hQEjTO\
                4rCFfQTc8zC0bFk7eIemvplZ_PrcVH2u-4NB7kVHpboelyoCod1IxD6wCRSZjmV5pVEWut3JGmRExzm2Syl2I-PDBcH8d0z7Uu9s\
                x4vvdggqbRbzYiw0JHMPgZCwN2fNIuKE0Mpl_4R_BBgulKo_a9j5rgrjo5eBi4k6vGk05pZUTOD6nih9a2vlpINt0cjhzHttVFfp\
                IptVWVBFuXSjoqa9OIYG4FqP0FrkIhLmPXhdMb7wfn_W32M1evGP4ceSsf5IKFBEjP5QSBMHKXQcPat-0jOiiUxLQZ4XqsRTqbqt\
                _BmuVml0ePuw
                """),
        Vector(
            name: "PS384", algorithm: .ps384,
            key: """
                {"kty":"RSA","n":"7wF_ojdiLNCSJ_ky6fw0uRdja997NRIFWG-cM0hZWwFygJthqehg239GM9-N7IcrQyC9Vdw87-9rnS750s\
                zs3kc6PgYlB3YQdnSwD4EoFC1hxbQPWe7sJF9Tlmy-N6eT34MevFng7kXSk8_1VVnrJc4jQr2x85DH0AAdumS0KfjNGiVHGrI7TX\
                z1ZGCc1NQj_AgZ1zJeji38Gyr0IqfK3_meDDK-qpAksrqXB4bBuxDVN0Ajlmdu71F9hwnqm_oteibN5u-3xke0yhFDkFktqvsbOL\
                O-8S2nRtPGZgx-fwt2CFtUPpns61zMxwSYuZ67rBJVldv5tdYs_lTxD048lw","e":"AQAB"}
                """,
            token: """
                eyJhbGciOiJQUzM4NCJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.ipDUoU_ENBGgCt7MnLgQatleIQZLus\
                -xxQlhqQ2SypGUtCRR14Qc3n8lhpRpclh_gwbU4hclo3Y9vVwL8gIOjEUbvzcHcN95pUTCplOUXLVhxHwzhL-B9bL6GMuHlPo-k2\
                HYzARavhIHHr5VGGDdZAOJtLM289XL5n1J5OFCiuLJn8xje1J_q4_I8bqzc3gUQ_Jk-dMUxfPpFgprM2I5rBlizKM1LqK1Myzk2e\
                atcjomoQJuGvPPe4ALQ9Guxu_0EDYOu8diyjvvnOjkw0iByO_wrERyplnMrSj5zb5QuPwD7t2NPp4fY5mqiowjUGfodVEJlZfxFy\
                hhhRO7uDQ-mw
                """),
        Vector(
            name: "RS512", algorithm: .rs512,
            key: """
                {"kty":"RSA","n":"7wF_ojdiLNCSJ_ky6fw0uRdja997NRIFWG-cM0hZWwFygJthqehg239GM9-N7IcrQyC9Vdw87-9rnS750s\
                zs3kc6PgYlB3YQdnSwD4EoFC1hxbQPWe7sJF9Tlmy-N6eT34MevFng7kXSk8_1VVnrJc4jQr2x85DH0AAdumS0KfjNGiVHGrI7TX\
                z1ZGCc1NQj_AgZ1zJeji38Gyr0IqfK3_meDDK-qpAksrqXB4bBuxDVN0Ajlmdu71F9hwnqm_oteibN5u-3xke0yhFDkFktqvsbOL\
                O-8S2nRtPGZgx-fwt2CFtUPpns61zMxwSYuZ67rBJVldv5tdYs_lTxD048lw","e":"AQAB"}
                """,
            token: """
                eyJhbGciOiJSUzUxMiJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.Ff818_jeaaiCfepw-FIK5TCIvvAXIA\
                U-iR-CD4GoKkQCcALeEZaiaXRn8EhNCoS4akSoe_Zj5wE0B4cIkjFBIdC7Jn6MDUVflM6zk2CcRvaVbOVnQ159u-V9OhY-S8VN1H\
                y4RjtMtZggipcyh4fteD2Y7tFIozDcsmjRdPNhouvF7v0qR_31aY1-dwD-Yk9cteoBTv3uxRNEiflupI_S3jvMjBSRvBDjVfSJDj\
                R-4UYaHmLL3OrNMb5dJzMIIEwWCZiuueYgJ3ESryDj42jnEIviSWrBONnWbRSre2EfJtvl4MjnKYCvs0t5t2s4DdJnD20nLl5_b0\
                qVa0tlhk_SXg
                """),
        Vector(
            name: "PS512", algorithm: .ps512,
            key: """
                {"kty":"RSA","n":"7wF_ojdiLNCSJ_ky6fw0uRdja997NRIFWG-cM0hZWwFygJthqehg239GM9-N7IcrQyC9Vdw87-9rnS750s\
                zs3kc6PgYlB3YQdnSwD4EoFC1hxbQPWe7sJF9Tlmy-N6eT34MevFng7kXSk8_1VVnrJc4jQr2x85DH0AAdumS0KfjNGiVHGrI7TX\
                z1ZGCc1NQj_AgZ1zJeji38Gyr0IqfK3_meDDK-qpAksrqXB4bBuxDVN0Ajlmdu71F9hwnqm_oteibN5u-3xke0yhFDkFktqvsbOL\
                O-8S2nRtPGZgx-fwt2CFtUPpns61zMxwSYuZ67rBJVldv5tdYs_lTxD048lw","e":"AQAB"}
                """,
            token: """
                eyJhbGciOiJQUzUxMiJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.SZWZRePIG2RAvsyMk2UyShbZAFWyTn\
                ljunNGeHcXt3ZNjy62aNjx8VjQwnuqY6-J0MXY8EMxsYDDaCqLA8uBn5Goqp_FjeCzNqHCtGU-kdmO1f9VI96408MtPFT-9dOkCG\
                UVpSyiln9kkmiZvZ5d9pqx7N3xGG7ZDHo3Z4y-bjiCWQWWS9Za4_H4jLDG5P6Vf4p3AOXV88DhxMKIG_FYKMumeNsTQisydrH9rJ\
                LRBbDDScHZM0aTCFbRMUD7w0ZI2EPZPStLeOiRx-Er9U2VjnB9V1hZc3gn0DzbJHu4XlsJdulrFkx6sS69DApHhdiTlA6yvmgL3Z\
                Ma95stiCTvKg
                """),
        Vector(
            name: "ES256", algorithm: .es256,
            key: """
                {"kty":"EC","crv":"P-256","x":"mueKxh_acGanXM75JK9_birh7J56q8NpN06TYm1NCeU","y":"oxil9K9AZ6DI66uRacS\
                WBWeoiFIfzWbB65ZSRS0MCbs"}
                """,
            token: """
                eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.41XYPVrSzNEUWriGqWBnn8DLqh6BSZ\
                yEIDL_okXreB1r9YotAaqmFOWAQYQoCUu5mlxy-GIAeoJEFHRfg9xO6A
                """),
        Vector(
            name: "ES384", algorithm: .es384,
            key: """
                {"kty":"EC","crv":"P-384","x":"nXaG1NJzRBThJtOlCGwDjk2b9NA6lxYX66hg8BuSS7XFpeuUu9_Z0i-nLWTQFhOO","y"\
                :"7y1ZWjYNJk-2odlgJ5cnXfF6cQCYdhC3SdQMGSWpNp9MdNgvwtnK3Uhf4A_szcnT"}
                """,
            token: """
                eyJhbGciOiJFUzM4NCJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.X5NAYDGcukUiTFbN1mJmkTKhbOIROc\
                eNsw7impnCF1y7kG65AUnkeH2ogGj1Ip5tyl7yz2mpRih_CxzeM9hhuO-DO_bV0fwGIGswYXv11AZJ45JwT7CAGJAKWOZ1YQBs
                """),
        Vector(
            name: "ES512", algorithm: .es512,
            key: """
                {"kty":"EC","crv":"P-521","x":"AWhKUZs115PyjM3C06t_gQMm4Ekhvx2ATrJBgIi6Pe8MpHe791qZHhPv285_kJ4hLws1-\
                mGyV4ynstv3YzfveV6n","y":"AdIN1GCl1kVAB_kQgdqZZ-ux290lP-YD6B9HhgefjKpTV4JnjPjoyvVJDSQKydz7FdUndWGQAq\
                r-rL75tCfg6pnw"}
                """,
            token: """
                eyJhbGciOiJFUzUxMiJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.AYiqgyyTh5WrgSYP7LhOkAqzxzywYs\
                eji6-hAFuPEbqM5p47XJR6bU6R5QayfCMISVJw80n4uItegAQs-8g2i9SCADlEaw1KHlKYxkO2KP9e-KsjgRaeXBDwsiy478kIly\
                9Vv5TmRIHga1aq9xb1CJQeHdtghtpjpMSOjwPkwj_Fwqg5
                """),
        Vector(
            name: "EdDSA", algorithm: .edDSA,
            key: #"{"kty":"OKP","crv":"Ed25519","x":"qPWNN4mMYwIxdHCGWB9MJR9HQmzmPn6U3npto9BjFUg"}"#,
            token: """
                eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.ONuYLRe9KL6fDtVm3DbQlT65d13loj\
                htOSUX6U07hIbyor7ejmhuMFYtnHtKBhNHB7aZLS38GHQwIfrJ9QxyCg
                """),
    ]

    /// EdDSA under its newer name (RFC 9864).
    static let newerName = Vector(
        name: "Ed25519", algorithm: .edDSA,
        key: #"{"kty":"OKP","crv":"Ed25519","x":"7rkU0YIQyIurErgm5KYWX41YftSOHFxavs2XBrP9Rns","alg":"Ed25519"}"#,
        token: """
            eyJhbGciOiJFZDI1NTE5In0.eyJzdWIiOiJ1MSJ9.7wpGKNLJ0MYrhwY8yJtLs4Piue4IzyOdTaj5AEiHmW_5WJsFk\
            k_5ESrr7DxUKpTaA7GsDVHkCo8wRT2Pyz8EAg
            """)
    /// PS256 with a salt of 64 bytes, which RFC 7518 does not allow.
    static let longSalt = """
        eyJhbGciOiJQUzI1NiJ9.eyJpc3MiOiJodHRwczovL29wLnRlc3QiLCJzdWIiOiJ1MSJ9.wCEq6atGA5_JhK3Er5GoliDyl_95N4\
        MkfX7UKPg9HeFPaEvnxcRDb6sXbqRLqHCu5ll8asdbtwrQCZUXwhI_ovfZnpAU-MXiHj3HSz1F3Jjk1UlHVCP4LdBWDfdDQwHCOf\
        ClGqdDJh9eUGLRQhy1Q9Mr4wJv2WEr5-2x4lrC3Mc2NklNkcKdvh09oGuO3dVwJI6LM8CENYgFFY-0c7PsEcILLQRm-8u5-GOGF-\
        ypytdqdCkb0p1KViM-yyz87gF6CNBi2swZhm9GU34FmsDSgO3D-fhSqP2mrqSfnnd_GA7c3cwBOTF8gNelgPH-PiqoRK08b8OLAF\
        DyRXCK61ZhBQ
        """
    /// An RSA key of 1,024 bits.
    static let weakKey = """
        {"kty":"RSA","n":"253277XRpTsv9Dq91Z1e9t2_tz774KSjvHvq2XZ7q7S6KruFkFr7m3WOZwTUA3vGmx5xFvrkln3NccTPyK\
        fC-dN9LYibHIjADgOpXcm8sBTbAqbZvFuOcpACjkJXzr8zPTq1Zc2Ts_-XyChWazhm3IijGHn_jbiH46w7vCpVNz0","e":"AQAB\
        "}
        """

    /// Private keys that were made for these tests and are used nowhere else.
    static let rsaPEM = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDJw5dmDaMpAOtP
        JnMTTj/YeX+PKwT1bTe6WhZ/w3liCFpZpLq8ThLuH8sqnSMD1wRmODhPKA4olgiC
        3rCRa9duKdh/0GTYaU9K+UT6Vzp2LOFdpLIGyb8ZwNm1Rff4WN5gTz0jP1Xg2pFA
        rIerBujx89fV93kPqNDe2McAX8rkFEUB2bFxJXHSKH1m6OWoD/z4HKbXE5zBUqwa
        ibMcK6UXVQaVzYJdhKdpJ3LmW5imG4MGnL4ao+Hsg4Tx1QmU7A+kjQKwdfEqwuio
        3j/ni2KSTXfJMhWgbJ7retrQhnANHm91O7+GSgdX3sHlNd0ZSS5OWN5866AiSEgx
        zPTUErwhAgMBAAECggEAGBZRrM1T/UEu1nQwqM1eselPYTgxj1tKm+TFattbUmjM
        4IbaBEEN4X/KMXwxAfRZghqUHl8Z0Z6XxYfwbGwDfBNi1V97qppn7Pt1UK25PQJ+
        pT9UQZs0RU7QruN7hxqU8cqD8gFNr1ponN/8El7w0HHcAp9YxJXS2cfnehP1lOTg
        VEW3VxxkCdKkYtGsSnnmJeWzcZ4wal8QqnWya2zTECxZwiglg1KdBdEN8LpqT1XF
        O7I+NS4hg2zOKjT3c6qJ//B8iSIilYUvEuiX8j+Wr9RICNfLuyShtcSQsRBnVx52
        +Uf9F3GAbHTQeEWXj4uNY8B5aBXGR0ygsNWzQXeLQQKBgQDjmKg0kytNuSMVdwsX
        fudswW2NeX4nqltbFHS3Du2wbx2ibYp3LFG6n48qcidJaFL1EULlOwBvHyh3t7Ek
        /le8lT3SxleLgvCA+jDlAbkdrB7pnKz+Yx618WJHirJcLXoKB32RNeDiy7DXMvUi
        1rZXJmbLOE5SHrdSDqg7Nkb7kwKBgQDi8aIwA4xcby7Sjks/49oD6ujnZFYLlSaY
        bxnMX/uEuPz0smh8a5ElkzZDKRFlbv3Nx49yBXOW37vZsWZTSpqu2yNTuPOb2dNN
        Pd676s9b8/U8E2WHsxV5IKGGhi9rDguXbtLpwH1NcuEPcBdgDAajWb/pG0iMaIKQ
        qG5oPJeB+wKBgAmeoC1oswHb+2Gi4HMjyABOxKSgJ/bhOm9FFBHQrbcxWx1MZ/fV
        hbbPm6t9m698m1UEX8F0lvYbaQh2WSRpI6gy3qQUAgtBg4zQBlUHl51rcvsIxj8S
        TW//PdosQJGo0mmuG16R2ml7loPiAX5xeM+CLgIU5SqPZcwwFmg6SRHFAoGAN92t
        xE4LTnHcP97hbU/kylQYk2WivOUxhBLNcf8qxmhXdNE6YW6FY4+SqwPAEY06E18N
        0869vqVC8/r0qopR+7tcPe7ooTQFDR2u5+mMtCEg/HH162rNXW0H9jqwD5V8iwGw
        D/Tfo6Ik/wzj5DPxqmKcmICr4kyT35Jm42gPD+MCgYEA4SpFYnCUzSXq/PxWTWkd
        5B/MlSmyveT9Ozu28MOgXVQj84UHKpT5aNt6zRgIPyiu0nq09SJkDIkFPgxILQ1/
        zSWDbi9YDSbU60HIFV5v9UkUeJj2+Y1uEn7jLWb49uwMadXTzwmgD9x4qK1c5xz+
        6W3/K9TcjKeEAXuRHz972bk=
        -----END PRIVATE KEY-----
        """
    static let p256PEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUtbQFt02A0ae1sZ2
        D4oftdFiWEKbDmRej3DY377dACGhRANCAATWMP7agZ5CaFUyok1/SEQDoeSBltlq
        VmL7C4jkzH6Bkk7RwoxGNQfAY5A1OuVDDWipN2GjgyNcPn/SEanEyTOU
        -----END PRIVATE KEY-----
        """
    /// The same key as `ECPrivateKey`.
    static let p256OlderPEM = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIFLW0BbdNgNGntbGdg+KH7XRYlhCmw5kXo9w2N++3QAhoAoGCCqGSM49
        AwEHoUQDQgAE1jD+2oGeQmhVMqJNf0hEA6HkgZbZalZi+wuI5Mx+gZJO0cKMRjUH
        wGOQNTrlQw1oqTdho4MjXD5/0hGpxMkzlA==
        -----END EC PRIVATE KEY-----
        """
    static let p384PEM = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDodgb+XWYjT3VCeC71
        1twiretK8lIW6KZ9dKjUBZE6cfR1elTwKIqbqqJtFtd9SwWhZANiAAT7yFoNUsUE
        Ty28UkCEkxnMZMqLaQ1SxJm7BlGZqL85bKV57DUwxEsiGVbBvXUpXO1iWX3hYrYo
        AjG+7UPty1XDDA6tC8Euiarexc8m/+dkgUPptSTElRMGGf62XYpavF0=
        -----END PRIVATE KEY-----
        """
    static let weakPEM = """
        -----BEGIN PRIVATE KEY-----
        MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBANud9u+10aU7L/Q6
        vdWdXvbdv7c+++Cko7x76tl2e6u0uiq7hZBa+5t1jmcE1AN7xpsecRb65JZ9zXHE
        z8inwvnTfS2ImxyIwA4DqV3JvLAU2wKm2bxbjnKQAo5CV86/Mz06tWXNk7P/l8go
        Vms4ZtyIoxh5/424h+OsO7wqVTc9AgMBAAECgYB9HG1ru+G1xpUYBkrVIbTS4Bry
        sp/dJw3cN5/fyN7FP8z6wR9i0GIb+wln6Nk7Ls1C20HDvKRykzJxyJQylFe+2o70
        F5kVDbMrJX520DbuRmfAo2lmvJXEieJ/4gRNSb/tjhetu+htvUHtspFx5ViJzhF7
        AdhjBIQyEJ1nFWjH4QJBAPTkJM2kZSs/JUs+bcKBsCgjl6wGnfPELs3+2ZlfsKB/
        ZqgW92aGdb9A6rpwD0TgH95Fda7AJL+w+9s+16ydFDUCQQDllFGpp+f7UajfMF8K
        6hJsD7vQXCpUXjo+MslNbBzYHeJIuJyiWTnn/4QaFLVN3La8razdSQt6zzHISIhJ
        2ufpAkEAvLioqBV9paNHEUJuAYxB/dzYAMkkpnvUeglhFbJJgpZLvVPdmpQaX6Ye
        fkjna3Ow+3DZ7S7D4zn4DZDTUoHG1QJBAIrShhLtyhQpS9EyAbaq1drsJKiYoqwD
        knp74UfkwQhaAbPxlh2BkMddtbbDoOJlPUaYSnhArCVl1neCjI8ERMkCQDc0mm92
        1la6X03YZnw4szWv3h0Nwmj6eCYfgbjpvuqNJHf5rhIWleFQmi1ORJy+1frMktR3
        UtJWth0L6+FmiCs=
        -----END PRIVATE KEY-----
        """
    static let passphrasePEM = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBBNOhv0Sq3JS9R+DOeb
        ujHXAgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQfin5XyVtnRS0DmDm
        U93CeASBkO3C2dSH4ScxE62R0zk6suIarvVsCZuO2Sskt+8c8Bu6awWKeSXTyBch
        +76TOXC0L/DJss+zH60irjnxT6cjSZyYJ0X/5tWhJtzOMoKrGN4U4tGb3YtOek0S
        FK5P/igmX2sLefB8ZIhDYzTLDrK5h9SraesfMiXg0nRtNcoSJoQLgFGL93Q0JIb8
        +pOQGztoSg==
        -----END ENCRYPTED PRIVATE KEY-----
        """
    static let ed25519PEM = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIGPS1Uyw9pAZFkDpoONA4iJ/crdw5sgT84SSYF0nUVRI
        -----END PRIVATE KEY-----
        """
}
