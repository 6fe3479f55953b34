"""Valid TypeScript and JavaScript that the grammars misread, one text for each construct."""

from typing import NamedTuple


class Misread(NamedTuple):
    """A text and what its outline says."""

    path: str
    text: str
    symbols: str
    """Each symbol with its lines, in the order of the source."""
    uses: str = ""
    """References that the rewritten text must still have, as `name` or `name on receiver`."""


CASES = {
    "call signatures with type parameters and without semicolons": Misread(
        "a.ts",
        "interface Pour {\n  level: Level\n  <T>(drink: T): Cup<T>\n"
        "  // the large one\n  <T, U = Lid<T>>(\n    drink: T,\n    lid: U\n  ): Jug<T>\n}\n"
        "export type Lid<T> = { of: T }\nconst seal: {\n  (a: Jug<1>): void\n  <T>(b: T): T\n} = x\n",
        "Pour 1-9, level 2-2, () 3-3, () 5-8, Lid 10-10, of 10-10, seal 11-14",
        "Level, Cup, Lid, Jug",
    ),
    "type arguments behind a less-than sign are no call signature": Misread(
        "a.ts",
        "interface Jar {\n  a: Lid\n  <T>(b: T): void\n}\nfunction f() {\n  if (a < b && c > (d)) g()\n}\n",
        "Jar 1-4, a 2-2, () 3-3, f 5-7",
        "a, b, c, d, g",
    ),
    "variance": Misread(
        "a.ts",
        "export interface Tap<in out Liquid, out Flow extends Rate = Slow> {\n  flow: Flow\n}\n"
        "class Sink<in Liquid> {\n  drain(of: Liquid) {}\n}\ntype Out<out out> = out\n",
        "Tap 1-3, flow 2-2, Sink 4-6, drain 5-5, Out 7-7",
        "Rate, Slow",
    ),
    "export type *": Misread(
        "a.ts",
        "export type * from './jar'\nexport type * as lids from './lid'\nexport const jar = 1\n",
        "jar 3-3",
    ),
    "import defer": Misread(
        "a.ts", "import defer * as jar from './jar'\nexport const lid = jar\n", "lid 2-2", "jar"
    ),
    "overloads of a default export without a name": Misread(
        "a.ts",
        "export default function (size: number): Jar;\nexport default function(lid: Lid): Jar\n"
        "export default function <T>(one: T): T;\n"
        "export default async function (any: any): Promise<Jar> {\n  return make(any)\n}\n"
        "export function make(): Jar {}\n",
        "default 1-1, default 2-2, default 3-3, default 4-6, make 7-7",
        "Jar, Lid, make",
    ),
    "attributes with names of keywords": Misread(
        "a.jsx",
        "export function Jar() {\n  return <label class=\"jar\" for={id}>don't <b class='lid'>x</b></label>;\n}\n"
        "class Lid { turn() {} }\n",
        "Jar 1-3, Lid 4-4, turn 4-4",
        "id",
    ),
    "an ampersand in an attribute": Misread(
        "a.tsx",
        'export const Jar = () => <a href="/jars?size=2&lid=1" title={lid & 1}>x</a>;\nlet lid = 2;\n',
        "Jar 1-1, lid 2-2",
        "lid",
    ),
    "using as a name": Misread(
        "a.ts",
        "class Tap {\n  open(using: Jar): Tap {\n    return make({ using, ...using })\n  }\n  close() {}\n}\n",
        "Tap 1-6, open 2-4, close 5-5",
        "Jar, Tap, make",
    ),
    "using with a type and in a loop": Misread(
        "a.ts",
        "using jar: Jar = open();\nawait using lid: Lid = turn();\n"
        "function f() {\n  for (using one of all) one.seal();\n}\n",
        "jar 1-1, lid 2-2, f 3-5",
        "Jar, Lid, open, turn, seal on one",
    ),
    "types of other modules": Misread(
        "a.ts",
        "interface Jar {\n  lid?: import('./lid').Lid[]\n  tap: readonly import('./tap').a.Tap<Size>[]\n}\n"
        "type Keys = keyof import('./lid').Lid\nopen<typeof import('./tap')>(jar,)\n"
        "const load = () => import('./lid').then((lid) => lid.Lid)\n",
        "Jar 1-4, lid 2-2, tap 3-3, Keys 5-5, load 7-7",
        "Lid on import('./lid'), Tap on import('./tap').a, Size, Lid on lid",
    ),
    "optional elements of a tuple": Misread(
        "a.ts",
        "fill<['lid'?] | Tap>(a?.[b])\nconst lid = 1\n",
        "lid 2-2",
        "fill, Tap, a, b",
    ),
    "type arguments of a template": Misread(
        "a.ts",
        "const jar = sql<{ id: number; size: string }>`select ${lid}`.as('jar')\nexport class Lid {}\n",
        "jar 1-1, Lid 2-2",
        "sql, lid",
    ),
    "a function type as type argument": Misread(
        "a.ts",
        "expect(jar).toBe<<Size extends number>(size: Size) => Jar<Size>>()\nconst lid = 1 << 2\n",
        "lid 2-2",
        "Jar, jar",
    ),
    "a list in keyof": Misread(
        "a.ts",
        "expect<keyof readonly [Jar, Lid]>(jar)\ntype Size = 1\n",
        "Size 2-2",
        "Jar, Lid, jar",
    ),
    "names like operators": Misread(
        "a.ts",
        "interface Filter {\n  out: Jar\n  in2?: Lid\n  in?: string\n  as: Jar\n}\n"
        "abstract class Jar {\n  abstract: boolean\n  abstract seal(): void\n}\n"
        "let as = 1\nopen()\nin_jar = as + 1\nfor (const x in as) x\nconst b = x as Jar\n",
        "Filter 1-6, out 2-2, in2 3-3, in 4-4, as 5-5, Jar 7-10, abstract 8-8, seal 9-9, as 11-11, b 15-15",
        "Jar, Lid, open, in_jar",
    ),
    "escapes in template types": Misread(
        "a.ts",
        "type Hint<P extends string> = `use \\`Jar<${P}>\\``\nconst raw = String.raw`\\u${Hint}`\n",
        "Hint 1-1, raw 2-2",
        "P, raw on String",
    ),
    "decorators that call a function in place": Misread(
        "a.ts",
        "class Jar {\n  @((size) => (target) => target)\n  seal() {}\n  @log.call(1) open() {}\n}\n",
        "Jar 1-5, seal 2-3, open 4-4",
        "call on log",
    ),
}
