// The anchor of the benchmarks: how fast simdjson's on-demand parser reads one field of every line of an event log.
//
//     c++ -O3 -march=native -o simdjson_one_field simdjson_one_field.cpp -lsimdjson
//     ./simdjson_one_field LOG
//
// It prints how many lines had the field and how many bytes the values had, so that nothing can be optimised away.
#include <cstdio>
#include <string_view>

#include <simdjson.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: simdjson_one_field LOG\n");
        return 2;
    }
    simdjson::padded_string text;
    if (simdjson::padded_string::load(argv[1]).get(text) != simdjson::SUCCESS) {
        std::fprintf(stderr, "simdjson_one_field: cannot read %s\n", argv[1]);
        return 3;
    }
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document_stream lines;
    const size_t batch = 4u << 20; // longer than any line
    if (parser.iterate_many(text, batch).get(lines) != simdjson::SUCCESS) {
        std::fprintf(stderr, "simdjson_one_field: cannot parse %s\n", argv[1]);
        return 3;
    }
    size_t found = 0;
    size_t bytes = 0;
    for (auto line : lines) {
        std::string_view event;
        if (line["Event"].get(event) == simdjson::SUCCESS) {
            found++;
            bytes += event.size();
        }
    }
    std::printf("%zu %zu\n", found, bytes);
    return 0;
}
