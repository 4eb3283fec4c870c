#include "stdlib/canvas.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void qcanvas_fill(Canvas *c, int x, int y, int w, int h, Rgb color) {
    for (int i = y < 0 ? 0 : y; i < y + h && i < c->height; i++)
        for (int j = x < 0 ? 0 : x; j < x + w && j < c->width; j++) {
            uint8_t *p = c->rgb + 3 * ((size_t)i * (size_t)c->width + (size_t)j);
            p[0] = color.r, p[1] = color.g, p[2] = color.b;
        }
}

static void blend(uint8_t *p, Rgb color, double a) {
    p[0] = (uint8_t)(p[0] + (color.r - p[0]) * a);
    p[1] = (uint8_t)(p[1] + (color.g - p[1]) * a);
    p[2] = (uint8_t)(p[2] + (color.b - p[2]) * a);
}

static double distance(double px, double py, double x0, double y0, double x1, double y1) {
    double dx = x1 - x0, dy = y1 - y0, n = dx * dx + dy * dy;
    double t = n > 0 ? ((px - x0) * dx + (py - y0) * dy) / n : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(px - x0 - t * dx, py - y0 - t * dy);
}

/* A pixel is covered by how far its centre is inside the stroke. */
void qcanvas_line(Canvas *c, double x0, double y0, double x1, double y1, double thickness, Rgb color) {
    double reach = thickness / 2 + 1;
    if (!(fabs(x0) < 1e6 && fabs(y0) < 1e6 && fabs(x1) < 1e6 && fabs(y1) < 1e6)) return;
    int top = (int)fmax(floor(fmin(y0, y1) - reach), 0), bottom = (int)fmin(ceil(fmax(y0, y1) + reach), c->height - 1);
    int left = (int)fmax(floor(fmin(x0, x1) - reach), 0), right = (int)fmin(ceil(fmax(x0, x1) + reach), c->width - 1);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            double cover = thickness / 2 + 0.5 - distance(x + 0.5, y + 0.5, x0, y0, x1, y1);
            if (cover > 0) blend(c->rgb + 3 * ((size_t)y * (size_t)c->width + (size_t)x), color, fmin(cover, 1));
        }
}

/* Strokes of the characters from '!' to '~': points as two digits, x (0 to 4) and y (0 the top of capitals, 6 the base
 * line, 8 the lowest).  A blank lifts the pen. */
static const char *const strokes[] = {
    "2024 2526", "1012 3032", "1115 3135 0242 0444", "413010010213334445361605 2026", "0640 0010110100 3545463635",
    "4612112031320405162644", "2022", "30212536", "10212516", "2125 0244 0442", "2125 0343", "252617", "0343", "2526",
    "0640", "103041453616050110", "112026 1636", "01103041420646", "01103041423313 334445361605", "36300444",
    "400002324345361605", "4130100105163645443303", "004016", "103041423313020110 1304051636454433",
    "0516364541301001021343", "2223 2526", "2223 252617", "410345", "0242 0444", "014305", "01103041422324 2526",
    "34141232344441301001051646", "062046 1434", "0333444536060030414233", "4130100105163645", "00062644422000",
    "40000646 0333", "400006 0333", "41301001051636454323", "0006 4046 0343", "1030 2026 1636", "4045361605",
    "0006 4004 1346", "000646", "0600234046", "06004640", "103041453616050110", "06003041423303",
    "103041453616050110 2446", "06003041423303 2346", "413010010213334445361605", "0040 2026", "000516364540",
    "002640", "0016233640", "0046 4006", "002340 2326", "00400646", "30101636", "0046", "10303616", "022042", "0747",
    "1021", "12324346 441405163645", "0006 0312324345361605", "4332120305163645", "4046 4332120305163645",
    "04444332120305163645", "30201116 0232", "4332120305163645 4247381807", "0006 0312324346", "2226 2021",
    "22271807 2021", "0006 4204 2346", "10202536", "0206 03122326 23324346", "0206 0312324346", "123243453616050312",
    "0208 0312324345361605", "4248 4332120305163645", "0206 03123243", "4212031434453606", "202536 1232",
    "0205163645 4246", "022642", "0216233642", "0246 4206", "0226 4218", "02420646", "30212213242536", "2028",
    "10212233242516", "0312233443",
};

/* The letters of Latin-1, U+00C0 to U+00FF, by the letter below and the mark; a mark of ' ' is the letter alone. */
static const char latin[] = "A`A'A^A~A\"AoA E,E`E'E^E\"I`I'I^I\"D N~O`O'O^O~O\"x O/U`U'U^U\"Y'P s "
                            "a`a'a^a~a\"aoa c,e`e'e^e\"i`i'i^i\"d n~o`o'o^o~o\": o/u`u'u^u\"y'p y\"";
static const char marks_of[] = "`'^~\"o,/";
/* Above small letters, and two units higher above capitals; a cedilla and a stroke stay where they are. */
static const char *const marks[] = {"1021", "2130", "112031", "11203021", "1010 3030", "203021102", "2718", "0640"};
static const char box[] = "0040460600";

static void stroke(Canvas *c, double x, double y, double unit, const char *s, Rgb color) {
    double px = 0, py = 0;
    for (int pen = 0; s[0] && s[1];) {
        if (*s == ' ') { pen = 0, s++; continue; }
        double qx = x + (s[0] - '0') * unit, qy = y + (s[1] - '0' - 6) * unit;
        if (pen) qcanvas_line(c, px, py, qx, qy, fmax(unit * 0.8, 1), color);
        px = qx, py = qy, pen = 1, s += 2;
    }
}

static const char *strokes_of(uint32_t ch) {
    return ch <= ' ' ? "" : ch <= '~' ? strokes[ch - '!'] : box;
}

static void glyph(Canvas *c, double x, double y, double unit, uint32_t ch, Rgb color) {
    if (ch < 0xC0 || ch > 0xFF) {
        stroke(c, x, y, unit, strokes_of(ch), color);
        return;
    }
    const char *letter = latin + 2 * (ch - 0xC0), *mark = strchr(marks_of, letter[1]);
    bool capital = *letter < 'a', above = mark && *mark != ',' && *mark != '/';
    stroke(c, x, y, unit, strokes_of((uint8_t)*letter), color);
    if (mark) stroke(c, x, y - (above && capital ? 2 * unit : 0), unit, marks[mark - marks_of], color);
}

/* The character at s, which moves behind it; a byte that is no text is a character without strokes. */
static uint32_t next_character(const char **s) {
    const unsigned char *p = (const unsigned char *)*s;
    int more = p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 1 : p[0] < 0xF0 ? 2 : p[0] < 0xF5 ? 3 : 0;
    uint32_t ch = more ? p[0] & (0x3Fu >> more) : p[0] < 0x80 ? p[0] : UINT32_MAX;
    for (int i = 1; i <= more; i++) {
        if ((p[i] & 0xC0) != 0x80) return ++*s, UINT32_MAX;
        ch = ch << 6 | (p[i] & 0x3F);
    }
    return *s += more + 1, ch;
}

void qcanvas_text(Canvas *c, double x, double y, double size, const char *s, Rgb color) {
    for (; *s; x += size) glyph(c, x, y, size / 6, next_character(&s), color);
}

double qcanvas_text_width(double size, const char *s) {
    double width = 0;
    for (; *s; width += size) next_character(&s);
    return width;
}
