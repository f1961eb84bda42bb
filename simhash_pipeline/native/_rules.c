/* The blocks of a page in, the numbers of those that are its main text out.
 *
 * page/boilerplate.py says what is computed, and why; it is the reference, and this gives the same
 * numbers. Each function here has its name there.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* The traits of a tag, as boilerplate.py packs them. */
enum {
    H1 = 1, HEADING = 2, PRE = 4, SHORT_POST = 8, SHORT_TEXT = 16, LIST = 32, CELL = 64, ARTICLE = 128, SECTION = 256,
    LEAD = 512
};

#define HINTS 6
enum { COMMENT, CONSENT, FOOTER, BOILERPLATE, FORUM, OUTSIDE };
#define NOT_ASKED -1.0
/* The numbers of boilerplate.py, as its _set_up orders them. */
static struct {
    double long_chars, wide_from, narrow_from, narrow_to, sentence_bytes, max_link_share,
        title_weight, forum_share, min_beside_comments, box_share, headed_box_share, headed_within,
        min_headed_blocks, max_headings, lone_box_share, min_boxed_weight, min_main_share,
        short_article_bytes, min_short_article_share, min_unlinked_share, max_title_h1s, equal_share;
    double max_shares[HINTS], max_menu_shares[HINTS];
} rules;

static PyObject *traits_of, *hint_numbers; /* dicts */
enum { MARK = 1, FULL_STOP = 2, CLOSING = 4 };
static uint8_t punctuation[0x10000]; /* what a character is of these, the sets of _SENTENCE */

typedef struct {
    PyObject *text, *tag; /* borrowed */
    double link_share;
    unsigned traits;
    int is_gone, is_main;
} Block;

typedef struct {
    Py_ssize_t start, end;
    PyObject *tag; /* borrowed */
    unsigned traits;
} Box;

typedef struct {
    Py_ssize_t start, end, hint;
} Hint;

typedef struct {
    Block *blocks;
    Box *boxes;
    Hint *hints;
    int64_t *sizes, *weights, *unlinked, *before, *running; /* the last two: sums of the first 0, 1, ... */
    Py_ssize_t count, box_count, hint_count, *headings, h1_count;
    PyObject *title_words; /* borrowed: a list */
    int is_forum;
} Page;

/* ---- what a block weighs */

static int punctuation_of(uint32_t c) { return c < sizeof punctuation ? punctuation[c] : 0; }

/* _SENTENCE */
static int has_sentence(PyObject *text) {
    int width = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    for (Py_ssize_t i = 0; i < length; i++) {
        int found = punctuation_of(PyUnicode_READ(width, data, i));
        Py_ssize_t next = i + 1;
        if (found == MARK) return 1;
        if (found != FULL_STOP) continue;
        while (next < length && punctuation_of(PyUnicode_READ(width, data, next)) == CLOSING) next++;
        if (next == length || Py_UNICODE_ISSPACE(PyUnicode_READ(width, data, next))) return 1;
    }
    return 0;
}

static int has_title_word(const Page *page, PyObject *text) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(page->title_words); i++) {
        int found = PyUnicode_Contains(text, PyList_GET_ITEM(page->title_words, i));
        if (found) return found;
    }
    return 0;
}

static int is_long(PyObject *text, double size) {
    int width = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    double length = (double)PyUnicode_GET_LENGTH(text), counted = length;
    if (size < rules.long_chars || size >= 3 * rules.long_chars || size == length) return size >= rules.long_chars;
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); i++) {
        double c = (double)PyUnicode_READ(width, data, i);
        if (c >= rules.wide_from && !(c >= rules.narrow_from && c <= rules.narrow_to)) counted += 2;
    }
    return counted >= rules.long_chars;
}

/* _weights and _unlinked; 0 with an exception */
static int weigh(Page *page) {
    for (Py_ssize_t i = 0; i < page->count; i++) {
        const Block *block = &page->blocks[i];
        double size = (double)page->sizes[i];
        if (block->link_share > rules.max_link_share) continue;
        page->unlinked[i] = (int64_t)(size * (1.0 - block->link_share));
        if (is_long(block->text, size) || (size >= rules.sentence_bytes && has_sentence(block->text))) {
            int found = has_title_word(page, block->text);
            if (found < 0) return 0;
            page->weights[i] = found ? (int64_t)rules.title_weight * page->unlinked[i] : page->unlinked[i];
        }
    }
    return 1;
}

/* ---- boxes that are boilerplate by their own words */

static int64_t sum_up(Page *page, const int64_t *values) {
    for (Py_ssize_t i = 0; i < page->count; i++) page->before[i + 1] = page->before[i] + values[i];
    return page->before[page->count];
}

static int64_t between(const Page *page, Py_ssize_t start, Py_ssize_t end) {
    return page->before[end] - page->before[start];
}

typedef struct {
    Py_ssize_t next, start, end;
} Range;

/* _in_boxes: the next range, by the sums of sum_up; 0 behind the last */
static int next_in_boxes(const Page *page, const double *shares, Range *range) {
    while (range->next < page->hint_count) {
        const Hint *hint = &page->hints[range->next++];
        double share = shares[hint->hint];
        if (share < 0 || hint->end <= range->end) continue;
        if ((double)between(page, hint->start, hint->end) > share * (double)page->before[page->count]) continue;
        range->start = hint->start > range->end ? hint->start : range->end;
        range->end = hint->end;
        return 1;
    }
    return 0;
}

static int64_t weight_within(const Page *page, int hint) {
    double shares[HINTS] = {NOT_ASKED, NOT_ASKED, NOT_ASKED, NOT_ASKED, NOT_ASKED, NOT_ASKED};
    Range range = {0};
    int64_t weight = 0;
    shares[hint] = 1.0;
    while (next_in_boxes(page, shares, &range)) weight += between(page, range.start, range.end);
    return weight;
}

static int is_forum(Page *page) {
    int64_t weight = sum_up(page, page->weights), comments = weight_within(page, COMMENT);
    double enough = rules.forum_share * (double)weight;
    if (comments && (double)(weight - comments) < rules.min_beside_comments) return 1;
    return enough > 0 && (double)weight_within(page, FORUM) >= enough;
}

static void take_out(Page *page, Py_ssize_t start, Py_ssize_t end) {
    for (Py_ssize_t i = start; i < end; i++) page->blocks[i].is_gone = 1;
    for (Py_ssize_t i = start; i < end; i++) page->weights[i] = 0;
}

/* _boilerplate */
static void find_boilerplate(Page *page) {
    double shares[HINTS];
    Range range = {0};
    memcpy(shares, rules.max_shares, sizeof shares);
    if (page->is_forum) shares[COMMENT] = 0;
    sum_up(page, page->weights);
    while (next_in_boxes(page, shares, &range)) take_out(page, range.start, range.end);
}

/* ---- the densest box */

static int is_same(PyObject *a, PyObject *b) { return a == b || PyUnicode_Compare(a, b) == 0; }

static int is_part(const Page *page, const Box *box, Py_ssize_t start, Py_ssize_t end) {
    const Block *first = &page->blocks[box->start];
    const Box *other = box + 1, *last = page->boxes + page->box_count;
    int64_t weight;
    if (box->traits & CELL) return 0;
    if ((double)page->h1_count <= rules.max_title_h1s)
        for (Py_ssize_t h = 0; h < page->h1_count; h++)
            if (page->headings[h] >= box->start && page->headings[h] < box->end) return 0;
    if ((box->traits & SECTION || (first->traits & (HEADING | H1)) == HEADING) && box->start > start &&
        first[-1].traits & LEAD && between(page, box->start - 1, box->start))
        return 1;
    while (other < last) { /* to the first that begins at the box's end or later */
        const Box *middle = other + (last - other) / 2;
        if (middle->start < box->end)
            other = middle + 1;
        else
            last = middle;
    }
    if (other == page->boxes + page->box_count || other->end > end || !is_same(other->tag, box->tag)) return 0;
    weight = between(page, other->start, other->end);
    if (first->traits & HEADING && is_same(first->tag, page->blocks[other->start].tag)) return weight > 0;
    return (double)weight > rules.equal_share * (double)between(page, box->start, box->end);
}

static int follows_heading(const Page *page, const Box *box, int64_t around) {
    double running = (double)(page->running[box->end] - page->running[box->start]);
    if (page->is_forum || running < rules.min_headed_blocks) return 0;
    for (Py_ssize_t h = 0; h < page->h1_count && (double)h < rules.max_headings; h++) {
        Py_ssize_t heading = page->headings[h];
        if (heading < box->end && (double)between(page, heading, box->start) <= rules.headed_within * (double)around)
            return 1;
    }
    return 0;
}

/* _densest: the range of blocks */
static void find_densest(Page *page, Py_ssize_t *start, Py_ssize_t *end) {
    Py_ssize_t part_end = 0, comments_end = 0, comment = 0, articles = 0;
    unsigned lone;
    *start = 0;
    *end = page->count;
    for (Py_ssize_t i = 0; i < page->count; i++) {
        int counts = page->is_forum || !(page->blocks[i].traits & PRE);
        int64_t weight = counts ? page->weights[i] : 0;
        page->before[i + 1] = page->before[i] + weight;
        page->running[i + 1] = page->running[i] + (weight > 0);
    }
    if ((double)page->before[page->count] < rules.min_boxed_weight) return;
    for (Py_ssize_t number = 0; number < page->box_count; number++)
        articles += (page->boxes[number].traits & ARTICLE) != 0;
    lone = articles == 1 ? ARTICLE : 0;
    for (Py_ssize_t number = 0; number < page->box_count; number++) {
        const Box *box = &page->boxes[number];
        int64_t around = between(page, *start, *end), weight = between(page, box->start, box->end);
        double share = rules.box_share;
        if (page->is_forum) { /* _outside_comments: boxes and hints are in the same order */
            const Hint *hint = page->hints;
            for (; comment < page->hint_count; comment++) {
                hint = &page->hints[comment];
                if (hint->hint == COMMENT && (hint->start > box->start ||
                                              (hint->start == box->start && hint->end <= box->end)))
                    break;
            }
            if (comment < page->hint_count && hint->start == box->start && hint->end == box->end &&
                box->end > comments_end)
                comments_end = box->end;
            if (box->start < comments_end) continue;
        }
        if (box->start < *start || box->end > *end || (double)weight < rules.lone_box_share * (double)around ||
            box->traits & LIST)
            continue;
        if (box->traits & lone)
            share = rules.lone_box_share;
        else if (box->start < part_end)
            continue;
        else if (follows_heading(page, box, around))
            share = rules.headed_box_share;
        if ((double)weight < share * (double)around) continue;
        if (!(box->traits & lone) && !page->is_forum && is_part(page, box, *start, *end)) {
            part_end = box->end;
        } else {
            *start = box->start;
            *end = box->end;
        }
    }
}

/* ---- what of it is the text */

/* _without_links: the blocks of the range that are the main text */
static void take_without_links(Page *page, Py_ssize_t start, Py_ssize_t end) {
    unsigned short_tags = page->is_forum ? SHORT_POST : SHORT_TEXT;
    unsigned title_tag = (double)page->h1_count <= rules.max_title_h1s ? H1 : 0;
    int64_t all = 0, unlinked = 0;
    Py_ssize_t first = end;
    for (Py_ssize_t i = start; i < end; i++) {
        Block *block = &page->blocks[i];
        if (block->is_gone) continue;
        block->is_main = page->weights[i] > 0 ||
                         (block->traits & short_tags && block->link_share <= rules.max_link_share);
        all += page->sizes[i];
        if (block->is_main) unlinked += page->sizes[i];
        if (page->weights[i] > 0 && !(block->traits & HEADING) && first == end) first = i;
    }
    if ((double)unlinked < rules.min_unlinked_share * (double)all) {
        for (Py_ssize_t i = start; i < end; i++) page->blocks[i].is_main = !page->blocks[i].is_gone;
    } else {
        for (Py_ssize_t i = start; i < end; i++)
            if (i < first || page->blocks[i].traits & title_tag) page->blocks[i].is_main = 0;
    }
}

static int is_enough(const Page *page) {
    int64_t running = 0, taken = 0, text = 0;
    const int64_t *sizes = page->sizes;
    double share = rules.min_short_article_share;
    for (Py_ssize_t i = 0; i < page->count; i++) {
        if (page->weights[i] > 0) running += page->sizes[i];
        if (page->blocks[i].is_main) taken += page->sizes[i];
    }
    if ((double)running >= rules.short_article_bytes) {
        sizes = page->unlinked;
        share = rules.min_main_share;
    }
    for (Py_ssize_t i = 0; i < page->count; i++)
        if (!page->blocks[i].is_gone) text += sizes[i];
    return running > 0 && (double)taken >= share * (double)text;
}

/* _without_menus */
static void take_without_menus(Page *page) {
    Range range = {0};
    Py_ssize_t left = page->count;
    for (Py_ssize_t i = 0; i < page->count; i++) page->blocks[i].is_main = 1;
    sum_up(page, page->unlinked);
    while (next_in_boxes(page, rules.max_menu_shares, &range)) {
        for (Py_ssize_t i = range.start; i < range.end; i++) page->blocks[i].is_main = 0;
        left -= range.end - range.start;
    }
    for (Py_ssize_t i = 0; left == 0 && i < page->count; i++) page->blocks[i].is_main = 1;
}

/* ---- from Python, and back */

/* The number that a dict has for a name, else another; -1 with an exception. */
static long number_of(PyObject *numbers, PyObject *name, long other) {
    PyObject *number = PyUnicode_CheckExact(name) ? PyDict_GetItemWithError(numbers, name) : NULL;
    if (number != NULL) return PyLong_AsLong(number);
    if (!PyUnicode_CheckExact(name)) PyErr_Format(PyExc_TypeError, "a tag or hint is a str");
    return PyErr_Occurred() ? -1 : other;
}

/* The range of blocks that the first two of a tuple are; 0 with an exception. */
static int read_range(const Page *page, PyObject *row, Py_ssize_t columns, Py_ssize_t *start, Py_ssize_t *end) {
    if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) != columns) {
        PyErr_Format(PyExc_TypeError, "a range is a tuple of %zd", columns);
        return 0;
    }
    *start = PyLong_AsSsize_t(PyTuple_GET_ITEM(row, 0));
    *end = PyLong_AsSsize_t(PyTuple_GET_ITEM(row, 1));
    if (PyErr_Occurred()) return 0;
    if (*start < 0 || *start >= *end || *end > page->count) {
        PyErr_Format(PyExc_ValueError, "a range of blocks is not of this page");
        return 0;
    }
    return 1;
}

static int read_block(Page *page, Py_ssize_t i, PyObject *text, PyObject *tag, PyObject *size, PyObject *share) {
    long traits = number_of(traits_of, tag, 0);
    page->sizes[i] = PyLong_AsSsize_t(size);
    if (traits < 0 || PyErr_Occurred()) return 0;
    if (!PyUnicode_CheckExact(text) || !PyFloat_CheckExact(share)) { /* runs nothing that may change the lists */
        PyErr_Format(PyExc_TypeError, "a block's text is a str, its share of links a float");
        return 0;
    }
    page->blocks[i] = (Block){text, tag, PyFloat_AS_DOUBLE(share), (unsigned)traits, 0, 0};
    if (page->sizes[i] < 0 || page->sizes[i] > INT32_MAX || !(page->blocks[i].link_share >= 0)) {
        PyErr_Format(PyExc_ValueError, "a block's size or share of links is negative or too large");
        return 0;
    }
    if (traits & H1) page->headings[page->h1_count++] = i;
    return 1;
}

static int read_box(Page *page, Box *box, PyObject *row) {
    long traits;
    if (!read_range(page, row, 4, &box->start, &box->end)) return 0;
    box->tag = PyTuple_GET_ITEM(row, 2);
    if ((traits = number_of(traits_of, box->tag, 0)) < 0) return 0;
    box->traits = (unsigned)traits;
    return 1;
}

/* Hints that no rule asks for are left out. */
static int read_hint(Page *page, PyObject *row) {
    Hint *hint = &page->hints[page->hint_count];
    if (!read_range(page, row, 3, &hint->start, &hint->end)) return 0;
    hint->hint = number_of(hint_numbers, PyTuple_GET_ITEM(row, 2), HINTS);
    if (hint->hint < 0) return 0;
    page->hint_count += hint->hint < HINTS;
    return 1;
}

static PyObject *main_numbers(const Page *page) {
    PyObject *numbers = PyList_New(0);
    for (Py_ssize_t i = 0; numbers != NULL && i < page->count; i++) {
        PyObject *number;
        if (!page->blocks[i].is_main) continue;
        number = PyLong_FromSsize_t(i);
        if (number == NULL || PyList_Append(numbers, number) < 0) Py_CLEAR(numbers);
        Py_XDECREF(number);
    }
    return numbers;
}

static PyObject *found(Page *page) {
    Py_ssize_t start, end;
    if (!weigh(page)) return NULL;
    page->is_forum = is_forum(page);
    find_boilerplate(page);
    find_densest(page, &start, &end);
    take_without_links(page, start, end);
    if (!is_enough(page)) take_without_menus(page);
    return main_numbers(page);
}

PyObject *main_blocks(PyObject *module, PyObject *args) {
    PyObject *texts, *tags, *sizes, *shares, *boxes, *hints, *words, *answer = NULL;
    Page page = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!O!O!", &PyList_Type, &texts, &PyList_Type, &tags, &PyList_Type,
                          &sizes, &PyList_Type, &shares, &PyList_Type, &boxes, &PyList_Type, &hints,
                          &PyList_Type, &words))
        return NULL;
    page.count = PyList_GET_SIZE(texts);
    page.title_words = words;
    if (traits_of == NULL || PyList_GET_SIZE(tags) != page.count || PyList_GET_SIZE(sizes) != page.count ||
        PyList_GET_SIZE(shares) != page.count)
        return PyErr_Format(PyExc_ValueError, "a block has a text, a tag, a size and a share of links");
    size_t blocks = (size_t)page.count + 1;
    page.blocks = PyMem_Calloc(blocks, sizeof *page.blocks);
    page.boxes = PyMem_Calloc((size_t)PyList_GET_SIZE(boxes) + 1, sizeof *page.boxes);
    page.hints = PyMem_Calloc((size_t)PyList_GET_SIZE(hints) + 1, sizeof *page.hints);
    page.sizes = PyMem_Calloc(5 * blocks, sizeof *page.sizes);
    page.headings = PyMem_Calloc(blocks, sizeof *page.headings);
    if (page.blocks == NULL || page.boxes == NULL || page.hints == NULL || page.sizes == NULL ||
        page.headings == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    page.weights = page.sizes + blocks;
    page.unlinked = page.weights + blocks;
    page.before = page.unlinked + blocks;
    page.running = page.before + blocks;
    for (Py_ssize_t i = 0; i < page.count; i++)
        if (!read_block(&page, i, PyList_GET_ITEM(texts, i), PyList_GET_ITEM(tags, i),
                        PyList_GET_ITEM(sizes, i), PyList_GET_ITEM(shares, i)))
            goto done;
    for (; page.box_count < PyList_GET_SIZE(boxes); page.box_count++)
        if (!read_box(&page, &page.boxes[page.box_count], PyList_GET_ITEM(boxes, page.box_count))) goto done;
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(hints); number++)
        if (!read_hint(&page, PyList_GET_ITEM(hints, number))) goto done;
    answer = found(&page);
done:
    PyMem_Free(page.blocks);
    PyMem_Free(page.boxes);
    PyMem_Free(page.hints);
    PyMem_Free(page.sizes);
    PyMem_Free(page.headings);
    return answer;
}

PyObject *set_rules(PyObject *module, PyObject *args) {
    PyObject *traits, *numbers, *sets[3];
    const char *given;
    Py_ssize_t size;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#O!O!UUU", &given, &size, &PyDict_Type, &traits, &PyDict_Type, &numbers,
                          &sets[0], &sets[1], &sets[2]))
        return NULL;
    if (size != sizeof rules) return PyErr_Format(PyExc_ValueError, "the rules have other numbers");
    memcpy(&rules, given, sizeof rules);
    memset(punctuation, 0, sizeof punctuation);
    for (int set = 3; set-- > 0;)
        for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(sets[set]); i++)
            punctuation[PyUnicode_READ_CHAR(sets[set], i) & (sizeof punctuation - 1)] = (uint8_t)(1 << set);
    Py_XSETREF(traits_of, Py_NewRef(traits));
    Py_XSETREF(hint_numbers, Py_NewRef(numbers));
    Py_RETURN_NONE;
}
