/* The rules of the main text; see _rules.c. */
PyObject *main_blocks(PyObject *module, PyObject *args);
PyObject *set_rules(PyObject *module, PyObject *args);
