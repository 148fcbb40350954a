// SPDX-License-Identifier: Apache-2.0
//
// flatbuffers: the request as a table of FlatBuffers, built by one builder that is cleared, and
// opened with its verifier.
//
// Threads   as peers.h says.
// Owns      a builder for each way.
#include <request_generated.h>

#include "peers/cpp_way.hpp"
#include "peers/requests.h"
#include "peers/tables.h"

namespace
{

struct built {
    peers_requests requests;
    flatbuffers::FlatBufferBuilder builder{16384};

    built()
    {
        peers_requests_init(&requests);
    }
};

} // namespace

static inline peers_requests *fb_requests(void *state)
{
    return &static_cast<built *>(state)->requests;
}

static inline bool fb_build(void *state, const peers_request *from)
{
    flatbuffers::FlatBufferBuilder &builder = static_cast<built *>(state)->builder;
    const request::Id id(from->id[0], from->id[1]);

    builder.Clear();
    const auto a = builder.CreateVector(from->a, from->a_count);
    const auto b = builder.CreateVector(from->b, from->b_count);

    builder.Finish(request::CreateRequest(builder, &id, from->priority, from->correlation, a, b));
    return true;
}

static inline const void *fb_bytes(void *state, size_t *out_size)
{
    const flatbuffers::FlatBufferBuilder &builder = static_cast<built *>(state)->builder;

    *out_size = builder.GetSize();
    return builder.GetBufferPointer();
}

static inline const void *fb_open(const void *bytes, size_t size)
{
    flatbuffers::Verifier verifier(static_cast<const uint8_t *>(bytes), size);

    return request::VerifyRequestBuffer(verifier) ? request::GetRequest(bytes) : nullptr;
}

static inline uint32_t fb_read(const void *opened, size_t index)
{
    const auto *const a = static_cast<const request::Request *>(opened)->a();
    uint32_t bits;

    if (!a || index >= a->size())
        return 0;
    const float value = a->Get(static_cast<flatbuffers::uoffset_t>(index));

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline bool fb_is(const void *opened, const peers_request *request)
{
    const auto *const m = static_cast<const request::Request *>(opened);

    return m->id() && m->id()->low() == request->id[0] && m->id()->high() == request->id[1] &&
           m->priority() == request->priority && m->correlation() == request->correlation &&
           m->a() && m->b() && m->a()->size() == request->a_count &&
           m->b()->size() == request->b_count && peers_are_elements(m->a()->data(), request->a) &&
           peers_are_elements(m->b()->data(), request->b);
}

#define WAY fb
#include "peers/requests.h"

static const peers_way ways[] = {
    {"message_build_8k", "FlatBufferBuilder", "-", "-", "1", true, nullptr, way_create<built>,
     fb_build_all, fb_show, nullptr, way_destroy<built>},
    {"message_open_validated_8k", "Verifier", "-", "-", "1", true, nullptr, way_create<built>,
     fb_open_all, fb_show, nullptr, way_destroy<built>},
    {"message_field_read", "table", "-", "-", "1", true, nullptr, way_create<built>, fb_read_all,
     fb_show, nullptr, way_destroy<built>},
};

const peers_library peers_flatbuffers = {"FlatBuffers", PEERS_VERSION, PEERS_PEER, ways,
                                         sizeof ways / sizeof ways[0]};
