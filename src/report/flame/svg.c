/* A picture: one box a call, callers below, as wide as its weight. */
#include <math.h>
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "report/flame/flame.h"
#include "report/flame/svg_script.h"
#include "text/escape.h"

enum { WIDTH = 1200, MARGIN = 10, ROW = 17, HEAD = 60, FOOT = 24, DEPTH_MAX = 1000 };

/* Boxes narrower than this share of the whole are not drawn. */
static const double LEAST_SHARE = 1e-4;
static const double LETTER = 6.7; /* pixels, about */

struct box {
    uint32_t parent, rank, node; /* rank: of the frame's text among all */
};

struct text_rank {
    struct pyro_slice text;
    uint32_t frame;
};

struct picture {
    const struct pyro_flame *flame;
    struct pyro_output *output;
    struct box *boxes;
    uint32_t *ranks;   /* by frame */
    double *left, *at; /* by node: left edge, and where its next child begins, as shares of the whole */
    double whole, whole_before, most_changed;
    uint32_t depth;
};

static int compare_texts(const void *a, const void *b)
{
    return pyro_slice_compare(((const struct text_rank *)a)->text, ((const struct text_rank *)b)->text);
}

static int compare_boxes(const void *a, const void *b)
{
    const struct box *first = a, *second = b;
    if (first->parent != second->parent)
        return first->parent < second->parent ? -1 : 1;
    return first->rank < second->rank ? -1 : first->rank > second->rank;
}

static double share_of(const struct picture *picture, const struct pyro_flame_node *node)
{
    return (double)node->total[PYRO_FLAME_AFTER] / picture->whole;
}

/* How much more of the whole a call takes than before. */
static double change_of(const struct picture *picture, const struct pyro_flame_node *node)
{
    double before = picture->whole_before > 0 ? (double)node->total[PYRO_FLAME_BEFORE] / picture->whole_before : 0;
    return share_of(picture, node) - before;
}

/* ---- Layout ------------------------------------------------------------------------------------------------------ */

static bool rank_frames(struct picture *picture)
{
    const struct pyro_flame *flame = picture->flame;
    size_t count = flame->frames.count;
    struct text_rank *texts = pyro_allocate(flame->allocator, count * sizeof(*texts));
    picture->ranks = pyro_allocate(flame->allocator, count * sizeof(*picture->ranks));
    for (size_t i = 0; i < count && texts; i++)
        texts[i] = (struct text_rank){flame->frames.items[i].text, (uint32_t)i};
    if (texts && picture->ranks) {
        qsort(texts, count, sizeof(*texts), compare_texts);
        for (size_t i = 0; i < count; i++)
            picture->ranks[texts[i].frame] = (uint32_t)i;
    }
    bool done = texts && picture->ranks;
    pyro_release(flame->allocator, texts);
    return done;
}

static bool sort_boxes(struct picture *picture)
{
    const struct pyro_flame *flame = picture->flame;
    size_t count = flame->nodes.count;
    picture->boxes = pyro_allocate(flame->allocator, count * sizeof(*picture->boxes));
    picture->left = pyro_allocate(flame->allocator, count * sizeof(*picture->left));
    picture->at = pyro_allocate(flame->allocator, count * sizeof(*picture->at));
    if (!picture->boxes || !picture->left || !picture->at)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct pyro_flame_node *node = &flame->nodes.items[i];
        picture->boxes[i] = (struct box){node->parent, picture->ranks[node->frame], (uint32_t)i};
    }
    qsort(picture->boxes + 1, count - 1, sizeof(*picture->boxes), compare_boxes);
    return true;
}

static bool is_drawn(const struct picture *picture, const struct pyro_flame_node *node)
{
    return node->depth <= DEPTH_MAX && share_of(picture, node) >= LEAST_SHARE;
}

/* Boxes are in the order of their parents, whose place is known by then: a parent's number is less than its children's.
 */
static void place_boxes(struct picture *picture)
{
    const struct pyro_flame *flame = picture->flame;
    picture->left[0] = picture->at[0] = 0;
    for (size_t i = 1; i < flame->nodes.count; i++) {
        uint32_t number = picture->boxes[i].node;
        const struct pyro_flame_node *node = &flame->nodes.items[number];
        picture->left[number] = picture->at[number] = picture->at[node->parent];
        picture->at[node->parent] += share_of(picture, node);
        if (!is_drawn(picture, node))
            continue;
        picture->depth = node->depth > picture->depth ? node->depth : picture->depth;
        double changed = fabs(change_of(picture, node));
        picture->most_changed = changed > picture->most_changed ? changed : picture->most_changed;
    }
}

/* ---- Colors ------------------------------------------------------------------------------------------------------ */

/* Of the frame's text (FNV-1a), so that the same function has the same color in every picture. */
static uint32_t hash_of(struct pyro_slice text)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * 16777619U;
    return hash;
}

static void add_plain_color(struct pyro_strbuf *buffer, const struct pyro_flame_frame *frame)
{
    uint32_t hash = hash_of(frame->function.ptr ? frame->function : frame->text);
    unsigned light = hash >> 8 & 63, other = hash >> 16 & 63;
    if (pyro_slice_is(frame->language, "python"))
        pyro_strbuf_printf(buffer, "#%02x%02x%02x", 90 + light, 150 + other, 225);
    else if (pyro_slice_is(frame->language, "native") || pyro_slice_is(frame->language, "kernel"))
        pyro_strbuf_printf(buffer, "#%02x%02x%02x", 180 + light, 180 + light, 120 + other);
    else
        pyro_strbuf_printf(buffer, "#%02x%02x%02x", 205 + light * 50 / 63, 120 + other * 110 / 63, 70);
}

/* Red: a larger share than before; blue: a smaller one; white: the same. */
static void add_change_color(struct pyro_strbuf *buffer, const struct picture *picture,
                             const struct pyro_flame_node *node)
{
    double change = change_of(picture, node);
    double strength = picture->most_changed > 0 ? change / picture->most_changed : 0;
    unsigned pale = 250 - (unsigned)(200 * sqrt(fabs(strength)));
    if (strength > 0)
        pyro_strbuf_printf(buffer, "#fa%02x%02x", pale, pale);
    else
        pyro_strbuf_printf(buffer, "#%02x%02xfa", pale, pale);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* With `digits` digits after the point, whatever the locale. */
static void add_fixed(struct pyro_strbuf *buffer, double value, int digits)
{
    static const long long powers[] = {1, 10, 100, 1000};
    long long scaled = llround(fabs(value) * (double)powers[digits]);
    pyro_strbuf_printf(buffer, "%s%lld.%0*lld", value < 0 && scaled > 0 ? "-" : "", scaled / powers[digits], digits,
                       scaled % powers[digits]);
}

/* "12345 samples, 6.71 %" */
static void add_amount(struct pyro_strbuf *buffer, const struct picture *picture, const struct pyro_flame_node *node)
{
    pyro_strbuf_printf(buffer, "%lld %s, ", (long long)node->total[PYRO_FLAME_AFTER], picture->flame->unit);
    add_fixed(buffer, 100 * share_of(picture, node), 2);
    pyro_strbuf_add_text(buffer, " %");
    if (!picture->flame->differs)
        return;
    pyro_strbuf_printf(buffer, ", before %lld, change ", (long long)node->total[PYRO_FLAME_BEFORE]);
    add_fixed(buffer, 100 * change_of(picture, node), 2);
    pyro_strbuf_add_text(buffer, " points");
}

/* As much of the text as fits; all of it, or its beginning and two dots. */
static void add_label(struct pyro_strbuf *buffer, struct pyro_slice text, double width)
{
    double fits = (width - 6) / LETTER;
    size_t most = fits < 3 ? 0 : (size_t)fits;
    if (pyro_utf8_columns(text) <= most) {
        pyro_add_xml(buffer, text);
    } else if (most > 0) {
        pyro_add_xml(buffer, (struct pyro_slice){text.ptr, pyro_utf8_prefix(text, most - 2)});
        pyro_strbuf_add_text(buffer, "..");
    }
}

static void write_box(struct picture *picture, uint32_t number)
{
    const struct pyro_flame *flame = picture->flame;
    const struct pyro_flame_node *node = &flame->nodes.items[number];
    const struct pyro_flame_frame *frame = &flame->frames.items[node->frame];
    struct pyro_strbuf *buffer = &picture->output->buffer;
    struct pyro_slice text = number ? frame->text : PYRO_SLICE_LITERAL("all");
    double x = MARGIN + picture->left[number] * (WIDTH - 2 * MARGIN);
    double width = share_of(picture, node) * (WIDTH - 2 * MARGIN);
    unsigned y = HEAD + (picture->depth - node->depth) * ROW;
    pyro_strbuf_add_text(buffer, "<g class=\"f\"><title>");
    pyro_add_xml(buffer, text);
    pyro_strbuf_add_text(buffer, " (");
    add_amount(buffer, picture, node);
    pyro_strbuf_add_text(buffer, ")</title><rect x=\"");
    add_fixed(buffer, x, 3);
    pyro_strbuf_printf(buffer, "\" y=\"%u\" width=\"", y);
    add_fixed(buffer, width, 3);
    pyro_strbuf_printf(buffer, "\" height=\"%d\" fill=\"", ROW - 1);
    if (flame->differs)
        add_change_color(buffer, picture, node);
    else if (number)
        add_plain_color(buffer, frame);
    else
        pyro_strbuf_add_text(buffer, "#dddddd");
    pyro_strbuf_add_text(buffer, "\"/><text x=\"");
    add_fixed(buffer, x + 3, 3);
    pyro_strbuf_printf(buffer, "\" y=\"%u\">", y + 12);
    add_label(buffer, text, width);
    pyro_strbuf_add_text(buffer, "</text></g>\n");
    pyro_output_flush(picture->output, false);
}

static void write_head(struct picture *picture)
{
    struct pyro_strbuf *buffer = &picture->output->buffer;
    unsigned height = HEAD + (picture->depth + 1) * ROW + FOOT;
    pyro_strbuf_printf(buffer,
                       "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
                       "<svg version=\"1.1\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                       "viewBox=\"0 0 %d %u\">\n",
                       WIDTH, height, WIDTH, height);
    pyro_strbuf_add_text(buffer, "<style>text { font: 11px Verdana, sans-serif; fill: #000; pointer-events: none } "
                                 ".f { cursor: pointer } .f rect { rx: 2 } .f:hover rect { stroke: #000 } "
                                 "#title { font-size: 16px } #reset { cursor: pointer; pointer-events: auto } "
                                 "input { font: 12px Verdana, sans-serif; width: 190px }</style>\n");
    pyro_strbuf_printf(buffer, "<rect width=\"%d\" height=\"%u\" fill=\"#ffffff\"/>\n", WIDTH, height);
    pyro_strbuf_printf(buffer, "<text id=\"title\" x=\"%d\" y=\"24\">%s</text>\n", MARGIN,
                       picture->flame->differs ? "Flame graph: difference (red: more than before, blue: less)"
                                               : "Flame graph");
    pyro_strbuf_printf(buffer, "<text x=\"%d\" y=\"44\">%lld %s</text>\n", MARGIN,
                       (long long)picture->flame->nodes.items[0].total[PYRO_FLAME_AFTER], picture->flame->unit);
    pyro_strbuf_printf(buffer, "<text id=\"reset\" x=\"%d\" y=\"44\" style=\"display: none\">Reset zoom</text>\n", 300);
    pyro_strbuf_printf(buffer, "<text id=\"matched\" x=\"%d\" y=\"44\"></text>\n", WIDTH - 200);
    pyro_strbuf_printf(buffer,
                       "<foreignObject x=\"%d\" y=\"6\" width=\"200\" height=\"26\"><input "
                       "xmlns=\"http://www.w3.org/1999/xhtml\" id=\"search\" type=\"search\" placeholder=\"Search\" "
                       "aria-label=\"Search\"/></foreignObject>\n",
                       WIDTH - MARGIN - 200);
}

static void write_picture(struct picture *picture)
{
    struct pyro_strbuf *buffer = &picture->output->buffer;
    write_head(picture);
    for (size_t i = 0; i < picture->flame->nodes.count; i++) {
        uint32_t number = i == 0 ? 0 : picture->boxes[i].node;
        if (is_drawn(picture, &picture->flame->nodes.items[number]))
            write_box(picture, number);
    }
    pyro_strbuf_add_text(buffer, "<script><![CDATA[\n");
    for (size_t i = 0; i < sizeof(pyro_flame_script) / sizeof(*pyro_flame_script); i++) {
        pyro_strbuf_add_text(buffer, pyro_flame_script[i]);
        pyro_strbuf_add_char(buffer, '\n');
    }
    pyro_strbuf_add_text(buffer, "]]></script>\n</svg>\n");
}

void pyro_flame_write_svg(const struct pyro_flame *flame, struct pyro_output *output)
{
    const struct pyro_flame_node *root = &flame->nodes.items[0];
    struct picture picture = {
        .flame = flame,
        .output = output,
        .whole = root->total[PYRO_FLAME_AFTER] > 0 ? (double)root->total[PYRO_FLAME_AFTER] : 1,
        .whole_before = (double)root->total[PYRO_FLAME_BEFORE],
    };
    if (rank_frames(&picture) && sort_boxes(&picture)) {
        place_boxes(&picture);
        write_picture(&picture);
    } else {
        output->status = PYRO_ERROR_MEMORY;
    }
    pyro_release(flame->allocator, picture.boxes);
    pyro_release(flame->allocator, picture.ranks);
    pyro_release(flame->allocator, picture.left);
    pyro_release(flame->allocator, picture.at);
}
