#include "log_kit.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strings/strbuf.h"

int kit_folder_setup(void **state)
{
    struct kit_folder *folder = malloc(sizeof(*folder));
    if (!folder)
        return -1;
    strcpy(folder->path, "/tmp/pyrometer-test-XXXXXX");
    *state = folder;
    return mkdtemp(folder->path) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

int kit_folder_teardown(void **state)
{
    struct kit_folder *folder = *state;
    int result = nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
    return result;
}

const char *kit_path(const struct kit_folder *folder, const char *path)
{
    static char paths[8][512];
    static unsigned next;
    char *text = paths[next++ % 8];
    snprintf(text, sizeof(paths[0]), "%s%s%s", folder->path, path[0] ? "/" : "", path);
    return text;
}

void kit_write(const struct kit_folder *folder, const char *path, const void *bytes, size_t len)
{
    char whole[512];
    snprintf(whole, sizeof(whole), "%s", kit_path(folder, path));
    for (char *slash = whole + strlen(folder->path) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        assert_true(mkdir(whole, 0777) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(whole, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

void kit_write_text(const struct kit_folder *folder, const char *path, const char *text)
{
    kit_write(folder, path, text, strlen(text));
}

void kit_write_zip(const struct kit_folder *folder, const char *path, const char *const (*members)[2])
{
    kit_write_archive(folder, path, "zip", "none", members);
}

void kit_write_archive(const struct kit_folder *folder, const char *path, const char *format, const char *filter,
                       const char *const (*members)[2])
{
    struct archive *zip = archive_write_new();
    assert_non_null(zip);
    assert_int_equal(archive_write_set_format_by_name(zip, format), ARCHIVE_OK);
    if (strcmp(filter, "none") != 0)
        assert_int_equal(archive_write_add_filter_by_name(zip, filter), ARCHIVE_OK);
    assert_int_equal(archive_write_open_filename(zip, kit_path(folder, path)), ARCHIVE_OK);
    for (; (*members)[0]; members++) {
        struct archive_entry *entry = archive_entry_new();
        const char *name = (*members)[0], *text = (*members)[1];
        bool is_folder = name[strlen(name) - 1] == '/';
        archive_entry_set_pathname(entry, name);
        archive_entry_set_filetype(entry, is_folder ? AE_IFDIR : AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        if (!is_folder)
            archive_entry_set_size(entry, (la_int64_t)strlen(text));
        assert_int_equal(archive_write_header(zip, entry), ARCHIVE_OK);
        if (!is_folder)
            assert_int_equal(archive_write_data(zip, text, strlen(text)), strlen(text));
        archive_entry_free(entry);
    }
    assert_int_equal(archive_write_close(zip), ARCHIVE_OK);
    archive_write_free(zip);
}

void kit_discover(const struct kit_folder *folder, const char *path, struct pyro_log_list *ret)
{
    const char *paths[] = {kit_path(folder, path)};
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_source_discover(paths, 1, NULL, ret, &error), PYRO_OK);
}

static void add_relative(struct pyro_strbuf *out, const struct kit_folder *folder, struct pyro_slice path)
{
    assert_int_equal(path.ptr[path.len], '\0');
    size_t prefix = strlen(folder->path);
    if (pyro_slice_starts_with(path, folder->path))
        path = path.len > prefix ? (struct pyro_slice){path.ptr + prefix + 1, path.len - prefix - 1} : path;
    if (path.len == prefix && pyro_slice_starts_with(path, folder->path))
        path = PYRO_SLICE_LITERAL(".");
    pyro_strbuf_add_slice(out, path);
}

static void describe(struct pyro_strbuf *out, const struct kit_folder *folder, const struct pyro_log *log)
{
    add_relative(out, folder, log->path);
    if (log->in_progress)
        pyro_strbuf_add_char(out, '*');
    if (log->compacted)
        pyro_strbuf_add_char(out, '~');
    if (log->missing_parts)
        pyro_strbuf_printf(out, "-%llu", (unsigned long long)log->missing_parts);
    pyro_strbuf_add_char(out, ':');
    for (size_t i = 0; i < log->part_count; i++) {
        struct pyro_slice name = log->parts[i].member.ptr ? log->parts[i].member : log->parts[i].path;
        const char *slash = memrchr(name.ptr, '/', name.len);
        pyro_strbuf_printf(out, " %s", slash ? slash + 1 : name.ptr);
    }
}

void kit_expect_logs(const struct kit_folder *folder, const char *path, const char *expected)
{
    struct pyro_log_list list;
    struct pyro_strbuf text = {0};
    kit_discover(folder, path, &list);
    pyro_strbuf_add_text(&text, "");
    for (size_t i = 0; i < list.count; i++) {
        pyro_strbuf_add_text(&text, i ? " | " : "");
        describe(&text, folder, &list.logs[i]);
    }
    for (size_t i = 0; i < list.unreadable_count; i++) {
        pyro_strbuf_add_text(&text, " ! ");
        add_relative(&text, folder, list.unreadable[i].path);
        assert_true(list.unreadable[i].message.len > 0);
    }
    assert_string_equal(text.data, expected);
    pyro_strbuf_done(&text);
    pyro_log_list_done(&list);
}

void kit_expect_unreadable(const struct kit_folder *folder, const char *path, const char *message)
{
    struct pyro_log_list list;
    kit_discover(folder, path, &list);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.unreadable_count, 1);
    assert_non_null(strstr(list.unreadable[0].message.ptr, message));
    pyro_log_list_done(&list);
}

char *kit_read(const struct pyro_log_part *part, const char **ret_codec, char *ret_damage, size_t damage_size)
{
    struct pyro_reader *reader = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_strbuf text = {0};
    char buffer[1000];
    size_t got;
    assert_int_equal(pyro_reader_open(part, NULL, &reader, &error), PYRO_OK);
    pyro_strbuf_add_text(&text, "");
    do {
        assert_int_equal(pyro_reader_read(reader, buffer, sizeof(buffer), &got, &error), PYRO_OK);
        pyro_strbuf_add(&text, buffer, got);
    } while (got > 0);
    /* The end stays the end. */
    assert_int_equal(pyro_reader_read(reader, buffer, sizeof(buffer), &got, &error), PYRO_OK);
    assert_int_equal(got, 0);
    if (ret_codec)
        *ret_codec = pyro_reader_codec(reader);
    const char *damage = pyro_reader_damage(reader);
    if (ret_damage)
        snprintf(ret_damage, damage_size, "%s", damage ? damage : "");
    else
        assert_null(damage);
    pyro_reader_close(reader);
    return text.data;
}
