-- SPDX-License-Identifier: Apache-2.0
-- Each request posts a code and a subject of its own, as an app's backend passes on what PayPal's SDK gave. The simulated
-- provider takes such a code as issued. LOAD_RUN tells apart what is started in the same second; with LOAD_PROVIDER it is a
-- plain code of that provider.
local key = os.getenv("GATEWAY_KEY") or "none"
local provider = os.getenv("LOAD_PROVIDER")
local number = 0
local threads = 0

function setup(thread)
    thread:set("id", threads)
    threads = threads + 1
end

function init()
    math.randomseed(os.time() + id * 7919 + 104729 * (tonumber(os.getenv("LOAD_RUN")) or 0))
    run = string.format("%08x%08x", math.random(0, 0x7fffffff), math.random(0, 0x7fffffff))
    wrk.headers["Authorization"] = "Bearer " .. key
    wrk.headers["Content-Type"] = "application/json"
end

function request()
    number = number + 1
    local name = run .. "-" .. id .. "-" .. number
    if provider then
        return wrk.format("POST", "/v1/consents", nil, '{"provider":"' .. provider .. '","subject":"user-' .. name ..
            '","code":"code-for:person' .. name .. ':' .. name .. '"}')
    end
    local body = '{"provider":"paypal","subject":"user-' .. name .. '","authorization":{"response_type":' ..
        '"authorization_code","response":{"code":"code-for:person' .. name .. ':' .. name .. '"},"client":' ..
        '{"environment":"sandbox","paypal_sdk_version":"2.18.1","platform":"iOS","product_name":"PayPal iOS SDK"}}}'
    return wrk.format("POST", "/v1/consents", nil, body)
end

function done(summary, latency)
    io.write(string.format(
        '{"requests":%d,"seconds":%.3f,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d,' ..
        '"p50":%.3f,"p99":%.3f,"p999":%.3f}\n',
        summary.requests, summary.duration / 1e6, summary.errors.connect, summary.errors.read, summary.errors.write,
        summary.errors.status, summary.errors.timeout, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
        latency:percentile(99.9) / 1000))
end
