/* Messages about syntax errors: the position, the words, and that one mistake gives one message. */
#include "tests/unit/parse_help.h"

static const struct {
    const char *text, *sentences;
} mistakes[] = {
    {"x = a[end]", "1:7: error: there is no 'end' in an index: write numel(a)-1, in a matrix size(a,0)-1"},
    {"x = f(a)[0, end-1]", "1:13: error: there is no 'end' in an index: write size(x,1)-1"},
    {"x = [1,2;3,4]", "1:9: error: ';' does not separate rows: a matrix is written as a list of rows, [[1,2],[3,4]]"},
    {"x = [1 2]", "1:8: error: expected ',' between elements or ']', found the number 2"},
    {"if x = 3\ny = 1\nendif",
     "1:6: error: expected the end of the line or ';' after the condition, found '=' (== compares; a named argument is "
     "written name := value)"},
    {"s = 'hello'\nt = 1 +",
     "1:5: error: strings are written in double quotes: \"hello\"\n2:8: error: expected an expression, found end "
     "of file"},
    {"s = \"abc\nt = 1", "1:5: error: the string is not closed: a \" is missing before the end of the line"},
    {"for i=1:10\nend", "1:8: error: ':' does not make a range: write first..last or first..step..last"},
    {"y = x'",
     "1:7: error: expected an access mode after ', as in mat'circular (transposition is transpose(x); strings are "
     "written in double quotes)"},
    {"for i=0..3\nendwhile", "2:1: error: 'endwhile' cannot close the 'for' of line 1: write 'endfor'"},
    {"if x\nfor i=0..3\nendif", "3:1: error: 'endif' found where the 'for' of line 2 needs its 'endfor'"},
    {"x = 3\nend\ny = 2 3",
     "2:1: error: 'end' has nothing to close here\n3:7: error: expected the end of the statement, found the "
     "number 3"},
    {"if x\n y = 1", "1:1: error: this 'if' is not closed: its 'endif' is missing before the end of the file"},
    {"function y = f(x)\n  if x\n    y = 1\nend\nfunction z = g(x)\nend",
     "2:3: error: this 'if' is not closed: by its indentation, the end in line 4 is that of the 'function' of line 1"},
    {"function y = f(c, s)\n  for i=0..3\n    if c, s\n      y = 1\n  end\nend\nz = 3",
     "3:5: error: this 'if' is not closed: by its indentation, the end in line 5 is that of the 'for' of line 2"},
    {"for i=0..3\n  if x\n    y = 1\n      end\n",
     "1:1: error: this 'for' is not closed: its 'endfor' is missing before the end of the file; the indentation "
     "suggests a look at lines 2 to 4"},
    {"cd ..", "1:6: error: expected an expression, found end of file (chdir(\"..\") goes to another folder)"},
    {"f(x) = 3", "1:1: error: a call cannot be assigned to: elements are written with brackets, x[i] = value"},
    {"a + b = 3", "1:1: error: this cannot be assigned to: a name, an element x[i] or a field x.f is needed"},
    {"function y = f(x)\n return y\nend",
     "2:9: error: 'return' takes no value: assign to the name of the result, then return"},
    {"m = x[1:3]", "1:8: error: ':' does not make a range: write first..last or first..step..last"},
    {"m = x[:2]", "1:7: error: ':' does not make a range: write first..last or first..step..last"},
    {"m = x[0,:-1]", "1:9: error: ':' does not make a range: write first..last or first..step..last"},
    {"t = (1,2)", "1:7: error: a list in parentheses has no meaning: a vector is [a,b], a cell is {a,b}"},
    {"v = a & b", "1:7: error: unexpected character '&': write a && b, or and(a,b) for bits"},
    {"x = 0x10", "1:5: error: hexadecimal numbers are written with the suffix h, as in 0FFh"},
    {"x = 5abc", "1:5: error: '5abc' is neither a number nor a name"},
    {"x++", "1:2: error: there is no '++': write x += 1"},
    {"y = (1 + 2\nw = 4\nv = 3 3",
     "2:1: error: expected ')' for the '(' of line 1, found the name 'w'\n3:7: error: expected the end of the "
     "statement, found the number 3"},
    {"g(\n 1,\n 2 3,\n 4)\nx = 1 1",
     "3:4: error: expected ',' or ')' for the '(' of line 1, found the number 3\n5:7: error: expected the end of "
     "the statement, found the number 1"},
    {"h = {1,2]", "1:9: error: expected ',' or '}', found ']'"},
    {"function f(x)\nend",
     "1:10: error: the results are missing: write 'function y = name(...)', or 'function [] = name(...)' for none"},
    {"function y = __kernel__ f(x)\nend",
     "1:10: error: a kernel has no results: write 'function [] = __kernel__ f(...)' and store into an array"},
    {"x = 1 // two",
     "1:8: error: expected an expression, found '/' (comments begin with %; floor(a/b) divides integers)"},
    {"x = a ** b", "1:8: error: expected an expression, found '*' (the power operator is ^)"},
    {"if a\nx.f--\nend", "3:1: error: expected an expression, found 'end' (write -= 1)"},
    {"i = (c[0] += 1)", "1:11: error: expected ')', found '+=' (an assignment has no value: in kernels "
                        "atomic_add(x[i], v) gives the element before)"},
    {"match x\n| 1 -> y\nend", "1:8: error: expected 'with' after the value of 'match', found end of line"},
    {"match x with\ny = 1\nend", "2:1: error: expected '|' and a pattern, found the name 'y'"},
    {"else", "1:1: error: 'else' without 'if'"},
    {"x = mat'circulr(3)", "1:9: error: unknown access mode 'circulr: there are safe, mirror, reflect, circular, "
                           "clamped, unchecked, checked, "
                           "const; strings are written in double quotes"},
    {"a, b = 1,2", "1:1: error: several results are written [a, b] = …"},
    {"// text", "1:1: error: expected an expression, found '/' (comments begin with %; floor(a/b) divides integers)"},
    {"if c print 1 end", "1:6: error: expected the end of the line or ';' after the condition, found the name 'print'"},
    {"x : = 3", "1:5: error: expected a type, found '=' (== compares; a named argument is written name := value)"},
    {"break", "1:1: error: 'break' outside of a loop"},
    {"for i=0..3\n f = () -> (break;)\nend", "2:13: error: 'break' outside of a loop"},
    {"function y = f()\n import \"a.q\"\nend", "2:2: error: 'import' belongs at the top level, not inside a function"},
    {"type t : class\n function y = m()\n end\nend",
     "2:2: error: a method is a function outside the class, with a first parameter self : Class"},
    {"import system",
     "1:8: error: expected the name of a file in double quotes after 'import', found the name 'system'"},
    {"x = 0..1..2..3", "1:12: error: a range is first..last or first..step..last"},
    {"x = _\ny = 1", ""},
    {"x = 3 # no", "1:7: error: unexpected character '#': comments begin with %"},
    {"x = “a”", "1:5: error: unexpected character '“': strings are written in straight double quotes"},
    {"x = $", "1:5: error: '$' begins the name of a meta function, as in $ftype(...)"},
    {"[a, b+1] = f()", "1:6: error: expected ',' or ']', found '+'"},
    {"for [i,j] = 0..1, 0..2, 0..3\nend", "1:1: error: 2 loop variables but 3 ranges"},
    {"x = f(a\nfunction y = g(x)\nend", "1:8: error: expected ',' or ')', found end of line"},
    {"x = [1,,2]", "1:8: error: expected an expression, found ','"},
    {"repeat\n x\nend", "3:1: error: 'end' cannot close the 'repeat' of line 1: write 'until'"},
    {"try\n x", "1:1: error: this 'try' is not closed: its 'endtry' is missing before the end of the file"},
    {"end = 3", "1:1: error: 'end' has nothing to close here"},
    {"x.3 = 1", "1:3: error: expected a field name after '.', found the number 3"},
    {"for = 3",
     "1:5: error: expected a loop variable after 'for', found '=' (== compares; a named argument is written name "
     ":= value)"},
    {"reduction (x) -> x", "1:19: error: expected '=' between the pattern and its replacement, found end of line"},
    {"a = b c\nd = e f",
     "1:7: error: expected the end of the statement, found the name 'c'\n2:7: error: expected the end of the "
     "statement, found the name 'f'"},
    {"if (a\n b = 1\nendif", "2:2: error: expected ')' for the '(' of line 1, found the name 'b'"},
    {"x = cube{9}", "1:10: error: a rank is a number from 1 to 8"},
    {"x = a ? b", "1:10: error: expected ':' between the two values of '?', found end of line"},
    {"if a\n x\nelse if b\n y\nend\nend",
     "3:6: warning: 'else if' opens a second 'if' that needs its own 'endif'; 'elseif' does not"},
};

int main(void) {
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) complains(mistakes[i].text, mistakes[i].sentences);
    if (failures) printf("%d failures\n", failures);
    return failures != 0;
}
