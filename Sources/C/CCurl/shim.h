// SPDX-License-Identifier: Apache-2.0
// What Swift cannot call of this library (variadics, cast macros), and nothing else.
#pragma once
#include <curl/curl.h>

static inline CURLcode ccurl_set_long(CURL *_Nonnull easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_text(CURL *_Nonnull easy, CURLoption option, const char *_Nullable value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *_Nonnull easy, CURLoption option, void *_Nullable value) {
    return curl_easy_setopt(easy, option, value);
}

// Copied by the library.
static inline CURLcode ccurl_set_blob(CURL *_Nonnull easy, CURLoption option, void *_Nonnull bytes, size_t count) {
    struct curl_blob blob = {bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

static inline CURLcode ccurl_set_headers(CURL *_Nonnull easy, struct curl_slist *_Nullable headers) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
}

static inline CURLcode ccurl_set_writer(CURL *_Nonnull easy, CURLoption option, curl_write_callback _Nonnull callback) {
    return curl_easy_setopt(easy, option, callback);
}

static inline CURLcode ccurl_set_prereq(CURL *_Nonnull easy, curl_prereq_callback _Nonnull callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode ccurl_set_opener(CURL *_Nonnull easy, curl_opensocket_callback _Nonnull callback) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode ccurl_get_long(CURL *_Nonnull easy, CURLINFO info, long *_Nonnull value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_offset(CURL *_Nonnull easy, CURLINFO info, curl_off_t *_Nonnull value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_text(CURL *_Nonnull easy, CURLINFO info, char *_Nullable *_Nonnull value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_socket(CURL *_Nonnull easy, curl_socket_t *_Nonnull value) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode ccurl_multi_set_socket_watcher(
    CURLM *_Nonnull multi, curl_socket_callback _Nonnull callback, void *_Nonnull context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
}

static inline CURLMcode ccurl_multi_set_timer(
    CURLM *_Nonnull multi, curl_multi_timer_callback _Nonnull callback, void *_Nonnull context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

static inline CURLSHcode ccurl_share(CURLSH *_Nonnull share, curl_lock_data data) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}
