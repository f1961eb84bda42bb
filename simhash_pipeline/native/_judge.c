/* What the judge asks of samples and fingerprints.
 *
 * specific_text.py, index/neighbours.py and repeated_text.py say what is computed; they are the
 * reference, and this gives the same numbers.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define ENTRY_SIZE 6 /* a window and its block */
#define PLAIN 4      /* what a sample's bytes leave beside its entries, if it isn't packed */
#define BLOCK_BITS 0x7FFF
#define KEPT_ROOM 64
#define PACKED_ROOM (8 + KEPT_ROOM * (2 + 3 + 1)) /* blocks, steps, places */

/* ---- the sample that a store keeps: see specific_text.py */

static uint32_t number_at(const uint8_t *at, int bytes) {
    uint32_t number = 0;
    while (bytes--) number = number << 8 | at[bytes];
    return number;
}

static size_t put_bits(uint8_t *to, size_t place, uint32_t number, int width) {
    for (int bit = 0; bit < width; bit++, place++)
        if (number >> bit & 1) to[place >> 3] |= (uint8_t)(1u << (place & 7));
    return place;
}

static int width_of(uint32_t number) {
    int width = 0;
    for (; number; number >>= 1) width++;
    return width;
}

PyObject *kept_sample(PyObject *module, PyObject *args) {
    PyObject *repeated;
    const uint8_t *raw;
    Py_ssize_t size, most;
    uint32_t windows[KEPT_ROOM], limit, last_kept = 0, steps = 0;
    uint16_t of[KEPT_ROOM], blocks[KEPT_ROOM];
    uint8_t out[PACKED_ROOM] = {0};
    size_t kept = 0, count = 0, distinct = 0, place, at;
    int width, place_width;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#O!n", &raw, &size, &PyFrozenSet_Type, &repeated, &most)) return NULL;
    if (size % ENTRY_SIZE != PLAIN || most < 1 || most > KEPT_ROOM) Py_RETURN_NONE;
    limit = number_at(raw, 4);
    for (raw += 4; size >= 10; size -= ENTRY_SIZE, raw += ENTRY_SIZE) {
        uint32_t window = number_at(raw, 4), block = number_at(raw + 4, 2);
        if (kept && window <= last_kept) Py_RETURN_NONE; /* damaged */
        if (PySet_GET_SIZE(repeated)) {
            PyObject *number = PyLong_FromUnsignedLong(block & 0x7FFF);
            int is_repeated = number == NULL ? -1 : PySet_Contains(repeated, number);
            Py_XDECREF(number);
            if (is_repeated < 0) return NULL;
            if (is_repeated) continue;
        }
        if (kept == (size_t)most) { /* there are more: it is whole up to the last one */
            limit = last_kept;
            break;
        }
        kept++;
        last_kept = window;
        if (count && windows[count - 1] == window >> 8) continue; /* the first is kept */
        windows[count] = window >> 8;
        of[count++] = (uint16_t)block;
    }
    for (size_t i = 0; i < count; i++) { /* the blocks, rising */
        for (at = 0; at < distinct && blocks[at] < of[i];) at++;
        if (at < distinct && blocks[at] == of[i]) continue;
        memmove(blocks + at + 1, blocks + at, (distinct++ - at) * sizeof *blocks);
        blocks[at] = of[i];
    }
    for (size_t i = 0; i < count; i++) /* the bits of the largest step: those of all steps together */
        steps |= windows[i] - (i ? windows[i - 1] : 0);
    width = width_of(steps), place_width = distinct ? width_of((uint32_t)distinct - 1) : 0;
    place = put_bits(out, 0, limit, 32);
    out[4] = (uint8_t)count, out[5] = (uint8_t)distinct, out[6] = (uint8_t)width, place = 56;
    for (size_t i = 0; i < distinct; i++) place = put_bits(out, place, blocks[i], 16);
    for (size_t i = 0; i < count; i++) {
        for (at = 0; blocks[at] != of[i];) at++;
        place = put_bits(out, place, (uint32_t)at, place_width);
        place = put_bits(out, place, windows[i] - (i ? windows[i - 1] : 0), width);
    }
    size = (Py_ssize_t)((place + 7) / 8);
    return PyBytes_FromStringAndSize((const char *)out, size % ENTRY_SIZE == PLAIN ? size + 1 : size);
}

/* ---- how much of two samples is the same */

#define MOST_WINDOWS 255
#define WINDOW_BITS 24
enum { RECURRING = 1, MAIN = 2, REPEATED = 4 };

typedef struct {
    uint32_t limit, windows[MOST_WINDOWS]; /* the windows outside repeated blocks, rising */
    uint8_t marks[MOST_WINDOWS];
    int count;
} Sample;

static uint32_t bits_at(const uint8_t *raw, Py_ssize_t size, Py_ssize_t bit, int width) {
    uint64_t held = 0;
    Py_ssize_t left = size - bit / 8;
    if (left > 0) memcpy(&held, raw + bit / 8, left < 8 ? (size_t)left : 8);
    return (uint32_t)(held >> bit % 8 & ((1ull << width) - 1));
}

/* 0 if it isn't packed as a store has it, -1 with an exception */
static int read_sample(Sample *sample, const uint8_t *raw, Py_ssize_t size, PyObject *repeated, PyObject *recurs,
                       int recurring) {
    uint8_t of_blocks[MOST_WINDOWS];
    int count, blocks, width, place_width;
    Py_ssize_t bit = 0;
    uint32_t window = 0;
    if (size % ENTRY_SIZE == PLAIN || size < 7) return 0;
    count = raw[4], blocks = raw[5], width = raw[6], place_width = blocks ? width_of((uint32_t)blocks - 1) : 0;
    sample->limit = number_at(raw, 4), sample->count = 0;
    raw += 7, size -= 7 + 2 * blocks;
    if (width > WINDOW_BITS || 8 * size < (Py_ssize_t)count * (width + place_width)) return 0;
    for (int i = 0; i < blocks; i++, raw += 2) {
        uint32_t block = number_at(raw, 2);
        PyObject *number = PyLong_FromUnsignedLong(block & BLOCK_BITS);
        int is_repeated = number == NULL ? -1 : PySet_Contains(repeated, number);
        int is_recurring = is_repeated < 0 ? -1 : PySet_Contains(recurs, number);
        Py_XDECREF(number);
        if (is_recurring < 0) return -1;
        of_blocks[i] = (uint8_t)(is_repeated * REPEATED | is_recurring * recurring | (block > BLOCK_BITS) * MAIN);
    }
    for (int i = 0; i < count; i++, bit += width) {
        int place = (int)bits_at(raw, size, bit, place_width);
        uint32_t step = bits_at(raw, size, bit += place_width, width);
        window += step;
        if (place >= blocks || window >> WINDOW_BITS || (i && !step)) return 0;
        if (of_blocks[place] & REPEATED) continue;
        sample->windows[sample->count] = window;
        sample->marks[sample->count++] = of_blocks[place];
    }
    return 1;
}

/* Leaves out windows above the limit of a sample that is whole up to a lower one. */
static void cut_sample(Sample *sample, uint32_t limit) {
    if (sample->limit > limit)
        while (sample->count && sample->windows[sample->count - 1] > limit >> (32 - WINDOW_BITS)) sample->count--;
}

PyObject *similarity(PyObject *module, PyObject *args) {
    const uint8_t *raw[2];
    Py_ssize_t size[2];
    PyObject *sets[4];
    Sample a, b;
    int only_main, min_common, recurring, is_read, common = 0, alike = 0, differing = 0, of_main = 0, i = 0, k = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#O!O!O!O!pii", &raw[0], &size[0], &raw[1], &size[1], &PyFrozenSet_Type, &sets[0],
                          &PyFrozenSet_Type, &sets[1], &PyFrozenSet_Type, &sets[2], &PyFrozenSet_Type, &sets[3],
                          &only_main, &min_common, &recurring))
        return NULL;
    recurring = recurring ? RECURRING : 0;
    is_read = read_sample(&a, raw[0], size[0], sets[0], sets[1], recurring);
    if (is_read > 0) is_read = read_sample(&b, raw[1], size[1], sets[2], sets[3], recurring);
    if (is_read <= 0) return is_read < 0 ? NULL : Py_NewRef(Py_None);
    cut_sample(&a, b.limit);
    cut_sample(&b, a.limit);
    while (i < a.count || k < b.count) {
        if (i < a.count && k < b.count && a.windows[i] == b.windows[k]) {
            alike += (a.marks[i++] | b.marks[k++]) == MAIN;
            common++;
        } else {
            int is_of_a = k == b.count || (i < a.count && a.windows[i] < b.windows[k]);
            of_main += ((is_of_a ? a.marks[i++] : b.marks[k++]) & MAIN) != 0;
            differing++;
        }
    }
    if (common < min_common) return PyFloat_FromDouble(-1);
    if (only_main) differing = of_main;
    return PyFloat_FromDouble(alike ? (double)alike / (alike + differing) : 0);
}

/* ---- near fingerprints, and blocks on many pages */

PyObject *near_words(PyObject *module, PyObject *args) {
    const char *packed;
    Py_ssize_t size, most;
    unsigned long long value;
    int bits;
    PyObject *found;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#Kin", &packed, &size, &value, &bits, &most)) return NULL;
    found = PyList_New(0);
    for (Py_ssize_t at = 0; found != NULL && at + 8 <= size; at += 8) {
        uint64_t word, left;
        PyObject *number;
        memcpy(&word, packed + at, 8);
        left = word ^ value;
        for (int bit = 0; bit < bits; bit++) left &= left - 1; /* without its lowest bit */
        if (left) continue;
        if (PyList_GET_SIZE(found) == most) {
            Py_DECREF(found);
            Py_RETURN_NONE;
        }
        number = PyLong_FromUnsignedLongLong(word);
        if (number == NULL || PyList_Append(found, number) < 0) Py_CLEAR(found);
        Py_XDECREF(number);
    }
    return found;
}

PyObject *recurring(PyObject *module, PyObject *args) {
    static uint32_t counts[1 << 16]; /* zeros between two calls: to clear all takes longer than to count */
    const uint8_t *packed;
    Py_ssize_t size;
    uint32_t least;
    PyObject *found;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#I", &packed, &size, &least)) return NULL;
    for (Py_ssize_t at = 0; at + 2 <= size; at += 2) counts[number_at(packed + at, 2)]++;
    found = PyDict_New();
    for (Py_ssize_t at = 0; at + 2 <= size; at += 2) {
        uint32_t block = number_at(packed + at, 2);
        PyObject *key = NULL, *count = NULL;
        if (found != NULL && counts[block] >= least && counts[block]) {
            key = PyLong_FromUnsignedLong(block), count = PyLong_FromUnsignedLong(counts[block]);
            if (key == NULL || count == NULL || PyDict_SetItem(found, key, count) < 0) Py_CLEAR(found);
            Py_XDECREF(key);
            Py_XDECREF(count);
        }
        counts[block] = 0; /* it is in the answer, if it comes often enough */
    }
    return found;
}
