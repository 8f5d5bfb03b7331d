#include "ckpt/formats/sharded.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <map>

#include "ckpt/formats/safetensors.hpp"
#include "support/archives.hpp"
#include "support/emit.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace ckpt;
using Catch::Contains;
using test::error_of;
using test::message_of;

namespace {

using Files = std::map<std::string, std::string>;

// A directory in memory, or a file in one.
class FolderInput final : public Input {
 public:
  FolderInput(const Files& files, std::string name, bool is_folder)
      : files_(files), name_(std::move(name)), is_folder_(is_folder) {}
  const std::string& name() const noexcept override { return name_; }
  Bytes bytes() const override { return is_folder_ ? nullptr : memory_bytes(files_.at(name_)); }
  std::vector<std::string> siblings() const override {
    std::vector<std::string> names;
    for (const auto& [file, content] : files_) names.push_back(file);
    return names;
  }
  std::unique_ptr<Input> open_sibling(std::string_view name) const override {
    return std::make_unique<FolderInput>(files_, std::string(name), false);
  }

 private:
  const Files& files_;
  std::string name_;
  bool is_folder_;
};

Checkpoint read_folder(const Files& files) { return read_checkpoint(FolderInput(files, "folder", true)); }
Checkpoint read_index(const Files& files) {
  return read_checkpoint(FolderInput(files, "model.safetensors.index.json", false));
}

// A safetensors file with tensors of four bytes.
std::string shard(const std::vector<std::string>& names) {
  Checkpoint checkpoint;
  for (const std::string& name : names) {
    Tensor& tensor = checkpoint.tensors.emplace_back();
    tensor.name = name;
    tensor.view = View{.source = memory_bytes("data"), .bytes = 4};
  }
  checkpoint.metadata["format"] = "pt";
  const Plan plan = plan_safetensors(checkpoint);
  return std::string(as_text(test::emit(plan, checkpoint)));
}

std::string index(const std::vector<std::pair<std::string, std::string>>& map, std::uint64_t total = 0) {
  std::string text = fmt::format(R"({{"metadata":{{"total_size":{}}},"weight_map":{{)", total);
  for (std::size_t i = 0; i < map.size(); ++i)
    text += fmt::format(R"({}"{}":"{}")", i == 0 ? "" : ",", map[i].first, map[i].second);
  return text + "}}";
}

const std::string first = "model-00001-of-00002.safetensors";
const std::string second = "model-00002-of-00002.safetensors";
const std::string index_name = "model.safetensors.index.json";

Files sound() {
  return {{first, shard({"a", "b"})},
          {second, shard({"c"})},
          {index_name, index({{"c", second}, {"a", first}, {"b", first}}, 12)},
          {"config.json", "{}"}};
}

std::vector<std::string> names(const Checkpoint& checkpoint) {
  std::vector<std::string> out;
  for (const Tensor& tensor : checkpoint.tensors) out.push_back(tensor.name);
  return out;
}

std::string refusal(const Files& files) {
  return message_of([&] { read_index(files); });
}

}  // namespace

TEST_CASE("an index is told by its name") {
  CHECK(is_index_name("a/model.safetensors.index.json"));
  CHECK(is_index_name("pytorch_model.bin.index.json"));
  CHECK(is_index_name("model.safetensors.index.fp16.json"));
  CHECK_FALSE(is_index_name("config.json"));
  CHECK_FALSE(is_index_name("model.index.json/config.json"));
  CHECK_FALSE(is_index_name("index.safetensors"));
}

TEST_CASE("a set is one checkpoint, by its index and by its folder") {
  const Files files = sound();
  for (const Checkpoint& checkpoint : {read_index(files), read_folder(files)}) {
    CHECK(names(checkpoint) == std::vector<std::string>{"a", "b", "c"});
    CHECK(checkpoint.format == "safetensors");
    CHECK(checkpoint.size == files.at(first).size() + files.at(second).size());
    CHECK(checkpoint.metadata.at("format") == "pt");
    CHECK(checkpoint.notes.empty());
  }
  CHECK(read_folder(files).file == "folder");
  CHECK(read_index(files).file == index_name);
}

TEST_CASE("the names of shards make a set where there is no index") {
  Files files = sound();
  files.erase(index_name);
  const Checkpoint checkpoint = read_folder(files);
  CHECK(names(checkpoint) == std::vector<std::string>{"a", "b", "c"});
  REQUIRE(checkpoint.notes.size() == 1);
  CHECK_THAT(checkpoint.notes[0], Contains("no index"));
  files.erase(second);
  CHECK_THAT(message_of([&] { read_folder(files); }), Contains(second) && Contains("missing"));
}

TEST_CASE("a folder that leaves a choice is refused, one with a single checkpoint is it") {
  CHECK(names(read_folder({{"model.safetensors", shard({"a"})}, {"config.json", "{}"}})) ==
        std::vector<std::string>{"a"});
  Files files{{"a.safetensors", shard({"a"})}, {"b.safetensors", shard({"b"})}};
  CHECK(error_of([&] { read_folder(files); }).kind() == ErrorKind::usage);
  CHECK_THAT(message_of([&] { read_folder(files); }), Contains("a.safetensors, b.safetensors"));
  files = sound();
  files["pytorch_model.bin.index.json"] = files[index_name];
  CHECK_THAT(message_of([&] { read_folder(files); }), Contains("2 indexes"));
  CHECK_THAT(message_of([] { read_folder({{"config.json", "{}"}}); }), Contains("holds no checkpoint"));
}

TEST_CASE("a missing shard is told by its name") {
  Files files = sound();
  files.erase(second);
  const Error error = error_of([&] { read_index(files); });
  CHECK(error.kind() == ErrorKind::io);
  CHECK_THAT(error.message(), Contains(second) && Contains("missing"));
  CHECK(error.file() == index_name);
}

TEST_CASE("index and shards are compared both ways") {
  Files files = sound();
  files[index_name] = index({{"a", second}, {"b", first}, {"c", second}});
  CHECK_THAT(refusal(files), Contains("\"a\" in " + second) && Contains("lies in " + first));
  files[index_name] = index({{"a", first}, {"b", first}, {"c", second}, {"ghost", first}});
  CHECK_THAT(refusal(files), Contains("\"ghost\" in " + first) && Contains("no shard has it"));
  files[index_name] = index({{"a", first}, {"c", second}});
  CHECK_THAT(refusal(files), Contains("\"b\" lies in " + first) && Contains("does not name it"));
  files = sound();
  files[second] = shard({"b", "c"});
  CHECK_THAT(refusal(files), Contains("\"b\" is in two shards"));
}

TEST_CASE("an index that names anything but files beside it is refused") {
  for (const char* path : {"/etc/passwd", "../model.safetensors", "sub/model.safetensors", "..", "",
                           "model.safetensors.index.json"}) {
    INFO(path);
    Files files = sound();
    files[index_name] = index({{"a", path}});
    CHECK(error_of([&] { read_index(files); }).kind() == ErrorKind::corrupt);
  }
}

TEST_CASE("a set that is replaced while it is read is refused") {
  /// An index that another has taken the name of.
  class OldIndex final : public ByteSource {
   public:
    explicit OldIndex(const std::string& text) : text_(memory_bytes(text)) {}
    std::uint64_t size() const noexcept override { return text_->size(); }
    bool is_current() const noexcept override { return false; }

   private:
    void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
      text_->read_at(offset, out);
    }
    Bytes text_;
  };
  class OldInput final : public Input {
   public:
    explicit OldInput(const Files& files) : now_(files, index_name, false) {}
    const std::string& name() const noexcept override { return now_.name(); }
    Bytes bytes() const override { return std::make_shared<OldIndex>(sound().at(index_name)); }
    std::vector<std::string> siblings() const override { return now_.siblings(); }
    std::unique_ptr<Input> open_sibling(std::string_view name) const override {
      return now_.open_sibling(name);
    }

   private:
    FolderInput now_;
  };
  const Files files = sound();
  CHECK(message_of([&] { read_checkpoint(OldInput(files)); }) ==
        "the set has been replaced while it was read");
}

TEST_CASE("an incomplete index names the files of both sets") {
  const Files files{{index_name, index_of_incomplete({second, first})}};
  const IndexedFiles found = files_of_index(FolderInput(files, index_name, false));
  CHECK_FALSE(found.is_complete);
  CHECK(found.names == std::set<std::string>{first, second});
  const Files whole = sound();
  CHECK(files_of_index(FolderInput(whole, index_name, false)).is_complete);
}

TEST_CASE("an index of another shape is refused") {
  Files files = sound();
  for (const char* text : {"[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{}})",
                           R"({"weight_map":{"a":5}})", R"({"weight_map":{"a":"x","a":"y"}})",
                           R"({"weight_map":{"a":"x"},"metadata":{"total_size":"12"}})", "{"}) {
    INFO(text);
    files[index_name] = text;
    CHECK(error_of([&] { read_index(files); }).kind() == ErrorKind::corrupt);
  }
  files[index_name] = "version https://git-lfs.github.com/spec/v1\nsize 5\n";
  CHECK_THAT(refusal(files), Contains("LFS"));
}

TEST_CASE("a wrong total and a stray shard are noted") {
  Files files = sound();
  files[index_name] = index({{"a", first}, {"b", first}, {"c", second}}, 13);
  files["model-00003-of-00002.safetensors"] = "junk";
  files["other-00001-of-00002.safetensors"] = "junk";
  const Checkpoint checkpoint = read_index(files);
  REQUIRE(checkpoint.notes.size() == 2);
  CHECK_THAT(checkpoint.notes[0], Contains("13 bytes") && Contains("they have 12"));
  CHECK_THAT(checkpoint.notes[1], Contains("model-00003-of-00002.safetensors"));
}

TEST_CASE("what is wrong inside a shard is told of the shard") {
  Files files = sound();
  files[second].pop_back();
  const Error error = error_of([&] { read_index(files); });
  CHECK(error.file() == second);
  CHECK_THAT(error.message(), Contains("1 byte is missing"));
}

TEST_CASE("what is wrong with an index is named") {
  const auto with = [](const std::string& text) {
    Files files = sound();
    files[index_name] = text;
    return refusal(files);
  };
  CHECK_THAT(with("[]"), Contains("an index is an object with a weight_map"));
  CHECK_THAT(with(R"({"weight_map":{"a":5}})"), Contains("places tensor \"a\" in 5, which is no file name"));
  CHECK_THAT(with(index({{"a", "sub/x.bin"}})),
             Contains("in \"sub/x.bin\", which is not the name of a file beside"));
  CHECK_THAT(with(R"({"weight_map":{"a":"x\u0000y"}})"), Contains("is not the name of a file beside"));
  CHECK_THAT(with(index({{"a", index_name}})), Contains("which is an index itself"));
  CHECK_THAT(with(R"({"weight_map":{}})"), Contains("the weight_map of the index is empty"));
  CHECK_THAT(with(index_of_incomplete({"a.safetensors"})), Contains("the set is incomplete"));
  for (const char* total : {"\"12\"", "-12", "12.5", "-1.0", "1e300", "9223372036854775808.0"}) {
    const std::string text =
        R"({"weight_map":{"a":"x"},"metadata":{"total_size":)" + std::string(total) + "}}";
    CHECK_THAT(with(text), Contains("metadata.total_size of the index is"));
  }
}

TEST_CASE("a total that some writers leave as a float, or leave out, is a total") {
  Files files = sound();
  const std::string map =
      R"({"weight_map":{"a":")" + first + R"(","b":")" + first + R"(","c":")" + second + "\"}";
  for (const char* metadata :
       {"}", R"(,"metadata":{}})", R"(,"metadata":{"total_size":12.0}})", R"(,"metadata":[]})"}) {
    files[index_name] = map + metadata;
    CHECK(read_index(files).notes.empty());
  }
}

TEST_CASE("shards that contradict each other are refused, or told in notes where one can be kept") {
  Files files = sound();
  files[second] = "NRUB";
  files[second] += std::string("\1\0\x0A\0\0\0\xA1\x67tensors\xA0", 16) + std::string(256 - 20, '\0');
  CHECK_THAT(refusal(files),
             Contains("the shard " + second + " is burnpack, the ones before it are safetensors"));
  files = sound();
  const std::size_t format = files[second].find("\"pt\"");
  files[second].replace(format, 4, "\"np\"");
  const Checkpoint checkpoint = read_index(files);
  REQUIRE(checkpoint.notes.size() == 1);
  CHECK_THAT(checkpoint.notes[0], Contains(second + ": the metadata \"format\" differs"));
}

TEST_CASE("file names that only look like those of shards are checkpoints of their own") {
  for (const char* name :
       {"model-1-of-2.safetensors", "model-00001-of-0000x.safetensors", "model-of-00002.safetensors",
        "model-00001of00002.safetensors", "model-x-of-00002.safetensors"}) {
    CAPTURE(name);
    CHECK(names(read_folder({{name, shard({"a"})}})) == std::vector<std::string>{"a"});
  }
  Files files{{first, shard({"a"})}, {"b.safetensors", shard({"b"})}};
  CHECK_THAT(message_of([&] { read_folder(files); }), Contains("2 checkpoints and no index"));
  files = sound();
  files.erase(index_name);
  files["model-00003-of-00002.safetensors"] = "junk";
  const Checkpoint checkpoint = read_folder(files);
  REQUIRE(checkpoint.notes.size() == 2);
  CHECK_THAT(checkpoint.notes[0], Contains("was not read: its number is not one of 1 to 2"));
}

TEST_CASE("what shards hold beside their tensors is put together") {
  const auto pickled = [](const std::string& name, int epoch, bool is_foreign) {
    support::PickleWriter writer;
    writer.raw("}(").text(name).vector("0", 1).text("epoch").integer(epoch);
    if (is_foreign) writer.text("thing").global("m", "Thing").raw(")R");
    return support::zip(
               {{"a/data.pkl", writer.raw("u").done()}, {"a/data/0", "data"}, {"a/version", "3\n"}}) +
           "tail";
  };
  const std::string one = "pytorch_model-00001-of-00002.bin";
  const std::string two = "pytorch_model-00002-of-00002.bin";
  const Files files{{one, pickled("a", 1, true)}, {two, pickled("b", 2, true)}};
  const Checkpoint checkpoint = read_folder(files);
  CHECK(names(checkpoint) == std::vector<std::string>{"a", "b"});
  REQUIRE(checkpoint.globals.size() == 1);
  CHECK(checkpoint.globals[0].name == "m.Thing");
  REQUIRE(checkpoint.hidden.size() == 2);
  CHECK_THAT(checkpoint.hidden[1], Contains(two + ": 4 bytes follow"));
  CHECK(*checkpoint.values.find("epoch") == Value(1));
  CHECK_THAT(checkpoint.notes.at(0), Contains(two + ": the value \"epoch\" differs"));
  CHECK(checkpoint.integrity.size() == 2);
  REQUIRE(checkpoint.roots.size() == 1);
  CHECK(checkpoint.roots[0].tensors == 2);
}
