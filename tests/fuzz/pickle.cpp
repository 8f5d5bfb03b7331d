// The unpickler, and the text of every integer.
#include "ckpt/codec/pickle.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_pickle)
FUZZ(data, size) {
  using namespace ckpt;
  const Bytes bytes = fuzz::bytes_of(data, size);
  static_cast<void>(pickle::looks_like_pickle(std::as_bytes(std::span(data, size)), true));
  return fuzz::attempt([&] {
    const pickle::Graph graph = pickle::read(*bytes, 0);
    for (pickle::NodeId id = 0; id < graph.size(); ++id)
      if (graph.is(id, pickle::Kind::integer) || graph.is(id, pickle::Kind::big_integer) ||
          graph.is(id, pickle::Kind::decimal))
        static_cast<void>(pickle::integer_text(graph, id));
  });
}
