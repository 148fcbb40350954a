// SPDX-License-Identifier: Apache-2.0
//
// cpp_way: creating and destroying the state of a way that is a C++ class.
//
// Threads   as peers.h says.
// Owns      nothing.
#ifndef GYRE_PEERS_CPP_WAY_HPP
#define GYRE_PEERS_CPP_WAY_HPP

#include <exception>

template <class State> void *way_create()
{
    try {
        return new State;
    } catch (const std::exception &) {
        return nullptr; // what a way without memory says
    }
}

template <class State> void way_destroy(void *state)
{
    delete static_cast<State *>(state);
}

#endif
