#include <catch2/catch.hpp>

#include "support/checkpoints.hpp"

using namespace ckpt;

namespace {

bool recognised(std::string_view file) {
  return recognise_pytorch(as_bytes(file.substr(0, 512)), file.size());
}

}  // namespace

TEST_CASE("every container is told by its first bytes") {
  CHECK(recognised(support::torch_zip("N.")));
  CHECK(recognised(support::zip({})));
  CHECK(recognised(support::tar({{"pickle", "x"}})));
  CHECK(recognised(std::string("\x80\x02}q\0.", 6)));
  CHECK(recognised("\x80\x04\x95"));
  CHECK(recognised("(dp0\nVw\np1\nI1\ns."));
  CHECK(recognised("ccollections\nOrderedDict\n(tR."));
  CHECK(recognised("}."));
}

TEST_CASE("broken beginnings of pickles are recognised, so that the error can say what is wrong") {
  CHECK(recognised("\x80"));
  CHECK(recognised("\x80\x63N."));
  CHECK(recognised("PK\x03"));
  std::string tar = support::tar({{"pickle", "x"}});
  tar[0] = 'q';  // a wrong checksum
  CHECK(recognised(tar));
}

TEST_CASE("other files are left to others") {
  CHECK_FALSE(recognised(""));
  CHECK_FALSE(recognised(std::string(4096, '\0')));
  CHECK_FALSE(recognised("{\"error\": \"not found\"}"));
  CHECK_FALSE(recognised("<!DOCTYPE html>"));
  CHECK_FALSE(recognised("version https://git-lfs.github.com/spec/v1\n"));
  CHECK_FALSE(recognised("cannot open file\n"));
  CHECK_FALSE(recognised("(this is a text in brackets)\n"));
  CHECK_FALSE(recognised("GGUF\x03"));
  CHECK_FALSE(recognised("NRUB"));
  CHECK_FALSE(recognised("PYTORCH1"));
  CHECK_FALSE(recognised("\x1f\x8b\x08"));
  CHECK_FALSE(recognised(std::string("\x80\x02\0\0\0\0\0\0{\"w\":", 13)));  // safetensors
  CHECK_FALSE(recognised(std::string("\x80\x02}\0\0\0\0\0{", 9)));          // one of 8 MB
  CHECK_FALSE(recognised("]\n\n"));
}
