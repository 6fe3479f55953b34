"""Are the connections of TypeScript and JavaScript symbols exactly those in the source?"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asterism.analysis.source.discovery import discover
from asterism.structure.positions import SymbolTarget
from asterism.structure.typescript.project import TypeScriptProject
from tests.structure.compilers import TYPESCRIPT, needs_typescript
from tests.structure.descriptions import described

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "typescript_structure"

pytestmark = needs_typescript

# Per fixture and `path#name` or `path#name@line`: every fact that is not empty.
EXPECTED: dict[str, dict[str, dict[str, Any]]] = {
    "call_chain": {
        "controller.ts#OrderController": {
            "signature": "export class OrderController",
            "calls": ["OrderService service.ts:3 <8>"],
            "callers": ["controller.ts controller.ts:1 <21>", "Page page.tsx:11 <12>"],
            "references": ["page.tsx"],
            "members": [
                "8 property private readonly service: OrderService",
                "10 method async place(id: string): Promise<number>",
                "15 method placeTwice(id: string): Promise<number>",
            ],
        },
        "controller.ts#OrderController.place": {
            "signature": "async place(id: string): Promise<number>",
            "calls": [
                "retry retry.ts:1 <11>",
                "OrderService.load service.ts:4 <11>",
                "OrderService.total service.ts:8 <12>",
            ],
            "callers": ["OrderController.placeTwice controller.ts:15 <16,17>"],
            "users": ["controller.ts controller.ts:1 <21>"],
            "types_in": ["id: string"],
            "types_out": ["Promise<number>"],
        },
        "controller.ts#router": {
            "signature": "const router = Router()",
            "calls": ["Router express ~0.9 <5>"],
            "users": ["controller.ts controller.ts:1 <21>"],
            "value": "Router()",
        },
        "service.ts#OrderService.load": {
            "signature": "load(id: string): Promise<Order>",
            "calls": ["fetchOrder store.ts:10 <5>"],
            "callers": ["OrderController.place controller.ts:10 <11>"],
            "references": ["controller.ts"],
            "types_in": ["id: string"],
            "types_out": ["Promise<Order> <- Order store.ts:5"],
        },
        "service.ts#sum": {
            "signature": "function sum(prices: number[]): number",
            "calls": ["sum service.ts:13 <14>", "Array.slice lib <14>"],
            "callers": ["OrderService.total service.ts:8 <9>", "sum service.ts:13 <14>"],
            "types_in": ["prices: number[]"],
            "types_out": ["number"],
        },
        "store.ts#fetchOrder": {
            "signature": "export async function fetchOrder(id: string): Promise<Order>",
            "callers": [
                "checkAll checks.ts:4 <6>",
                'test("orders") callback checks.ts:12 <13>',
                "OrderService.load service.ts:4 <5>",
            ],
            "references": ["checks.ts", "service.ts"],
            "types_in": ["id: string"],
            "types_out": ["Promise<Order> <- Order store.ts:5"],
        },
        "checks.ts#checkAll": {
            "signature": "export function checkAll(ids: string[]): void",
            "calls": [
                "Array.forEach lib <5>",
                "fetchOrder store.ts:10 <6>",
                "Promise.then lib <6>",
                "default loader.ts:1 <7>",
            ],
            "types_in": ["ids: string[]"],
            "types_out": ["void"],
        },
        'checks.ts#test("orders") callback': {
            "signature": "(): void",
            "calls": ["fetchOrder store.ts:10 <13>"],
            "types_out": ["void"],
        },
        "loader.ts#default": {
            "signature": "export default function (count: number): number",
            "callers": ["checkAll checks.ts:4 <7>"],
            "references": ["checks.ts"],
            "types_in": ["count: number"],
            "types_out": ["number"],
        },
        "page.tsx#Page": {
            "signature": "export function Page()",
            "calls": [
                "OrderController controller.ts:7 <12>",
                "Page.show page.tsx:13 <16>",
                "Price page.tsx:3 <19,20>",
            ],
        },
        "page.tsx#Page.show": {
            "signature": "function show(): Promise<number>",
            "calls": ["OrderController.placeTwice controller.ts:15 <14>"],
            "callers": ["Page page.tsx:11 <16>"],
            "types_out": ["Promise<number>"],
        },
        "page.tsx#tag": {
            "signature": "function tag(parts: TemplateStringsArray, ...values: string[]): string",
            "calls": ["ReadonlyArray.join lib <8>"],
            "callers": ["Price page.tsx:3 <4>"],
            "types_in": ["parts: TemplateStringsArray", "values: string[]"],
            "types_out": ["string"],
        },
        "retry.ts#retry": {
            "signature": (
                "export async function retry<T>"
                "(work: () => Promise<T>, times: number = 3): Promise<T>"
            ),
            "callers": ["OrderController.place controller.ts:10 <11>"],
            "references": ["controller.ts"],
            "types_in": ["work: () => Promise<T>", "times: number"],
            "types_out": ["Promise<T>"],
            "gaps": ["whatever is passed as work"],
        },
    },
    "type_hierarchy": {
        "shapes.ts#Shape": {
            "signature": "export interface Shape",
            "subtypes": ["Solid shapes.ts:9 <9>", "Base shapes.ts:13 <13>"],
            "members": ["2 method area(): number"],
        },
        "shapes.ts#Solid": {
            "signature": "export interface Solid extends Shape, Named",
            "extends": ["Shape shapes.ts:1 <9>", "Named shapes.ts:5 <9>"],
            "subtypes": ["Cube square.ts:23 <23>"],
            "references": ["square.ts"],
            "members": ["10 method volume(): number"],
        },
        "shapes.ts#Base": {
            "signature": "export abstract class Base implements Shape",
            "implements": ["Shape shapes.ts:1 <13>"],
            "subtypes": ["Square square.ts:5 <5>"],
            "users": ["boxes square.ts:36 <36>"],
            "references": ["square.ts"],
            "members": [
                "14 method abstract area(): number",
                "16 method describe(): string",
            ],
        },
        "shapes.ts#Base.area": {
            "signature": "abstract area(): number",
            "callers": ["Base.describe shapes.ts:16 <17>"],
            "references": ["square.ts"],
            "types_out": ["number"],
        },
        "square.ts#Square": {
            "signature": "export class Square extends Root implements Named",
            "extends": ["Base shapes.ts:13 <5>"],
            "implements": ["Named shapes.ts:5 <5>"],
            "subtypes": ["UnitSquare square.ts:17 <17>"],
            "types_in": ["side: number"],
            "members": [
                '6 property readonly name = "square"',
                "8 constructor constructor(private side: number)",
                "8 property private side: number",
                "12 method area(): number",
            ],
        },
        "square.ts#UnitSquare": {
            "signature": "export class UnitSquare extends Square",
            "extends": ["Square square.ts:5 <17>"],
            "subtypes": ["Cube square.ts:23 <23>", "StampedSquare square.ts:35 <35>"],
            "callers": ["boxes square.ts:36 <36>"],
            "members": ["18 constructor constructor()"],
        },
        "square.ts#Cube": {
            "signature": "export class Cube extends UnitSquare implements shapes.Solid",
            "extends": ["UnitSquare square.ts:17 <23>"],
            "implements": ["Solid shapes.ts:9 <23>"],
            "members": ["24 method volume(): number"],
        },
        "square.ts#Emitting": {
            "signature": "class Emitting extends EventEmitter",
            "extends": ["EventEmitter events ~0.9 <29>"],
        },
        "square.ts#StampedSquare": {
            "signature": "export class StampedSquare extends Stamped(UnitSquare)",
            "extends": ["UnitSquare square.ts:17 <35>"],
            "calls": ["Stamped square.ts:32 <35>"],
        },
        "square.ts#boxes": {
            "signature": "export const boxes: Array<Root> = [new UnitSquare()]",
            "calls": ["UnitSquare square.ts:17 <36>"],
            "types_out": ["Array<Root> <- Base shapes.ts:13"],
            "type": "Array<Root>",
            "value": "[new UnitSquare()]",
        },
    },
    "references": {
        "token.ts#Token": {
            "signature": "export class Token",
            "subtypes": ["Three three.ts:3 <3>"],
            "callers": [
                "Three.again three.ts:4 <5>",
                "Token.parse token.ts:4 <5>",
                "EMPTY token.ts:9 <9>",
            ],
            "users": ["Five five.ts:3 <3>", "one one.ts:3 <3>", "two two.ts:3 <3>"],
            "references": ["five.ts", "four.ts", "one.ts", "three.ts", "two.ts"],
            "types_in": ["text: string"],
            "members": [
                "2 constructor constructor(readonly text: string)",
                "2 property readonly text: string",
                "4 method static parse(text: string): Token",
            ],
        },
        "token.ts#Token.parse": {
            "signature": "static parse(text: string): Token",
            "calls": ["Token token.ts:1 <5>"],
            "callers": ["two two.ts:3 <3>"],
            "references": ["two.ts"],
            "types_in": ["text: string"],
            "types_out": ["Token <- Token token.ts:1"],
        },
        "token.ts#Token.constructor.text": {
            "signature": "readonly text: string",
            "users": ["one one.ts:3 <4>", "Three.again three.ts:4 <5>"],
            "references": ["one.ts", "three.ts"],
            "type": "string",
        },
        "token.ts#LIMIT": {
            "signature": "export const LIMIT = 3600",
            "users": ["one one.ts:3 <4>"],
            "references": ["one.ts"],
            "type": "number",
            "value": "3600",
        },
        "six.ts#Token": {"signature": "export class Token"},
    },
    "type_flows": {
        "users.ts#find": {
            "signature": (
                "export function find(request: Request, role: Role | null = null,"
                ' ...ids: User["id"][]): Result<User>'
            ),
            "calls": ["Failure models.ts:7 <6>"],
            "callers": ["page page.ts:3 <5>"],
            "references": ["page.ts"],
            "types_in": [
                "request: Request <- Request express ~0.9",
                "role: Role | null <- Role models.ts:11",
                'ids: User["id"][] <- User models.ts:1',
            ],
            "types_out": ["Result<User> <- Result models.ts:5, User models.ts:1"],
        },
        "users.ts#describe": {
            "signature": (
                "export function describe(user: models.User,"
                " { role = Role.admin }: { role?: Role }): readonly [User, Role]"
            ),
            "types_in": [
                "user: models.User <- User models.ts:1",
                "{ role = Role.admin }: { role?: Role } <- Role models.ts:11",
            ],
            "types_out": ["readonly [User, Role] <- User models.ts:1, Role.admin models.ts:12"],
        },
        "users.ts#first": {
            "signature": "export const first = async (users: User[] = [] as User[]): Promise<User>",
            "callers": ["page page.ts:3 <4>"],
            "references": ["page.ts"],
            "types_in": ["users: User[] <- User models.ts:1"],
            "types_out": ["Promise<User> <- User models.ts:1"],
        },
        "users.ts#shout": {
            "signature": "export const shout = text =>",
            "types_in": ["text: any"],
        },
        "users.ts#cache": {
            "signature": "export const cache = new Map<string, Promise<User>>()",
            "calls": ["Map lib <17>"],
            "types_out": ["Map<string, Promise<User>> <- User models.ts:1"],
            "type": "Map<string, Promise<User>>",
            "value": "new Map<string, Promise<User>>()",
        },
        "page.ts#page": {
            "signature": (
                "export async function page(request: any):"
                " Promise<{ user: User; found: Result<User>; }>"
            ),
            "calls": ["first users.ts:13 <4>", "find users.ts:5 <5>"],
            "types_in": ["request: any"],
            "types_out": [
                "Promise<{ user: User; found: Result<User>; }>"
                " <- User models.ts:1, Result models.ts:5"
            ],
        },
        "models.ts#Role.admin": {
            "signature": 'admin = "admin"',
            "users": ["describe users.ts:9 <9>"],
            "references": ["users.ts"],
            "type": "Role",
            "value": '"admin"',
        },
    },
    "members": {
        "account.ts#Account": {
            "signature": "export class Account",
            "calls": ["Map lib <6>"],
            "types_in": ["id: string", "balance: number"],
            "members": [
                '3 property static readonly kinds: readonly ["free", "paid"]',
                "4 property #secret = 1",
                "5 property private owner?: string",
                "6 property lines: Map<string, number>",
                "8 constructor constructor(readonly id: string, protected balance: number = 0)",
                "8 property readonly id: string",
                "8 property protected balance = 0",
                "10 method get total(): number",
                "14 method set total(value: number)",
                "18 method async close(reason?: string):"
                " Promise<{ id: string; reason: string | undefined; }>",
                "22 method onClose = (listener: () => void): () => void",
                "24 method protected audit(): void",
                "25 method protected audit(depth: number): void",
                "26 method protected audit(depth?: number): void",
            ],
        },
        "account.ts#Account.total@14": {
            "signature": "set total(value: number)",
            "callers": ["Account.audit account.ts:26 <27,28>"],
            "types_in": ["value: number"],
        },
        "account.ts#Account.audit@24": {
            "signature": "protected audit(): void",
            "calls": ["Account.total account.ts:10 <27,28>"],
            "types_out": ["void"],
        },
        "account.ts#Options": {
            "signature": "export interface Options",
            "members": [
                "33 property readonly verbose: boolean",
                "34 method log?(line: string): void",
                "35 signature (value: string): number",
                "36 signature [key: string]: unknown",
            ],
        },
        "account.ts#Level": {
            "signature": "export enum Level",
            "members": ["40 enum_member low = 1", "41 enum_member high"],
        },
        "account.ts#limits": {
            "signature": "export namespace limits",
            "members": [
                "45 const export const MAX = 10",
                "46 function export function clamp(value: number): number",
            ],
        },
    },
    "cross_module": {
        "lib/parse.ts#parse": {
            "signature": "export function parse(text: string): Config",
            "callers": ["main app/main.ts:4 <5,9>", "Parser.run lib/parse.ts:10 <11>"],
            "references": ["app/main.ts", "lib/index.ts"],
            "types_in": ["text: string"],
            "types_out": ["Config <- Config lib/parse.ts:1"],
        },
        "lib/extra.ts#parse": {
            "signature": "export function parse(): void",
            "callers": ["main app/main.ts:4 <6>"],
            "references": ["app/main.ts"],
            "types_out": ["void"],
        },
        "lib/parse.ts#Parser": {
            "signature": "export default class Parser",
            "callers": ["main app/main.ts:4 <7,8>"],
            "references": ["app/main.ts", "lib/index.ts"],
            "members": ["10 method run(text: string): Config"],
        },
        "lib/parse.ts#Config": {
            "signature": "export interface Config",
            "users": ["main app/main.ts:4 <4>", "parse lib/parse.ts:5 <5>"],
            "references": ["app/main.ts", "lib/extra.ts"],
            "members": [
                "2 property name: string",
                "5 property extra?: string in lib/extra.ts",
            ],
        },
        "app/main.ts#main": {
            "signature": "export function main(): Config",
            "calls": [
                "parse lib/parse.ts:5 <5,9>",
                "parse lib/extra.ts:9 <6>",
                "Parser lib/parse.ts:9 <7,8>",
                "Parser.run lib/parse.ts:10 <7>",
            ],
            "types_out": ["Config <- Config lib/parse.ts:1"],
        },
        "app/merged.ts#Money@1": {
            "signature": "export class Money",
            "callers": ["Money.of app/merged.ts:6 <7>"],
            "users": ["price app/merged.ts:15 <15>"],
            "types_in": ["cents: number"],
            "members": [
                "2 constructor constructor(readonly cents: number)",
                "2 property readonly cents: number",
                "6 function export function of(euros: number): Money",
                "12 property currency?: string",
            ],
        },
    },
    "positions": {
        "unicode.ts#größe": {
            "signature": 'export const größe = "😀".length',
            "users": ["計算 unicode.ts:1 <2>", "a user.ts:3 <3>"],
            "references": ["user.ts"],
            "type": "number",
            "value": '"😀".length',
        },
        "unicode.ts#計算": {
            "signature": "export function 計算(値: number): number",
            "callers": ["箱.中身 unicode.ts:3 <3>", "a user.ts:3 <3>"],
            "references": ["user.ts"],
            "types_in": ["値: number"],
            "types_out": ["number"],
        },
        "unicode.ts#箱": {
            "signature": "export class 箱",
            "calls": ["計算 unicode.ts:1 <3>"],
            "callers": ["b user.ts:3 <3>"],
            "references": ["user.ts"],
            "members": ["3 property 中身: number"],
        },
    },
    "plain_javascript": {
        "server.js#serve": {
            "signature": "function serve(name: string): number",
            "calls": ["http.createServer http ~0.9 <9>", "greet greet.js:1 <9,10>"],
            "callers": ["start.mjs start.mjs:1 <3>"],
            "users": ["server.js server.js:1 <13>"],
            "references": ["start.mjs"],
            "types_in": ["name: string"],
            "types_out": ["number"],
        },
        "run.js#run": {
            "signature": "function run(): {}[]",
            "calls": ["createApplication application.js:1 <5>"],
            "users": ["run.js run.js:1 <8>"],
            "types_out": ["{}[]"],
        },
        "greet.js#greet": {
            "signature": "exports.greet = function (name): string",
            "callers": ["serve server.js:8 <9,10>"],
            "users": ["server.js server.js:1 <1>"],
            "references": ["server.js"],
            "types_in": ["name: any"],
            "types_out": ["string"],
        },
    },
    "monorepo": {
        "packages/core/src/math.ts#double": {
            "signature": "export function double(value: number): number",
            "callers": ["wide packages/ui/src/index.ts:5 <5>"],
            "references": ["packages/core/src/index.ts", "packages/ui/src/index.ts"],
            "types_in": ["value: number"],
            "types_out": ["number"],
        },
        "packages/ui/src/index.ts#wide": {
            "signature": "export const wide = (): number",
            "calls": ["double packages/core/src/math.ts:1 <5>"],
            "callers": [
                "main apps/admin/src/main.ts:4 <4>",
                "main apps/web/src/main.ts:4 <4>",
            ],
            "references": ["apps/admin/src/main.ts", "apps/web/src/main.ts"],
            "types_out": ["number"],
        },
        "apps/web/src/lib/db.ts#connect": {
            "signature": 'export function connect(): "web"',
            "callers": ["main apps/web/src/main.ts:4 <4>"],
            "references": ["apps/web/src/main.ts"],
            "types_out": ['"web"'],
        },
        "apps/admin/src/lib/db.ts#connect": {
            "signature": 'export function connect(): "admin"',
            "callers": ["main apps/admin/src/main.ts:4 <4>"],
            "references": ["apps/admin/src/main.ts"],
            "types_out": ['"admin"'],
        },
        "apps/web/src/main.ts#main": {
            "signature": 'export const main = (): (number | "web")[]',
            "calls": [
                "connect apps/web/src/lib/db.ts:1 <4>",
                "wide packages/ui/src/index.ts:5 <4>",
            ],
            "types_out": ['(number | "web")[]'],
        },
    },
    "broken": {
        "half.ts#Half.run": {
            "signature": "run(): number",
            "calls": ["whole whole.ts:1 <3>"],
            "callers": ["Half.later half.ts:4 <4>"],
            "types_out": ["number"],
        },
        "whole.ts#whole": {
            "signature": "export const whole = (n: number): number",
            "callers": ["Half.run half.ts:3 <3>"],
            "references": ["half.ts"],
            "types_in": ["n: number"],
            "types_out": ["number"],
        },
        "whole.ts#gone": {
            "signature": "",
            "references": None,
            "gaps": ["whole.ts no longer declares gone"],
        },
        "missing.ts#gone": {
            "signature": "",
            "references": None,
            "gaps": ["the compiler does not have this file"],
        },
    },
    "relatives": {
        "animals.ts#Animal.speak": {
            "signature": "speak(): string",
            "callers": [
                "anyTalk talks.ts:3 <4>",
                "catTalk talks.ts:7 <8>",
                "dogTalk talks.ts:11 <12>",
                "puppyTalk talks.ts:15 <16>",
                "eitherTalk talks.ts:19 <20>",
            ],
            "users": ["Voice voices.ts:3 <3>"],
            "references": ["talks.ts", "voices.ts"],
            "types_out": ["string"],
        },
        "animals.ts#Dog.speak": {
            "signature": "speak(): string",
            "callers": [
                "anyTalk talks.ts:3 <4>",
                "dogTalk talks.ts:11 <12>",
                "puppyTalk talks.ts:15 <16>",
                "eitherTalk talks.ts:19 <20>",
            ],
            "users": ["Voice voices.ts:3 <3>"],
            "references": ["talks.ts", "voices.ts"],
            "types_out": ["string"],
        },
        "animals.ts#Cat.speak": {
            "signature": "speak(): string",
            "callers": [
                "anyTalk talks.ts:3 <4>",
                "catTalk talks.ts:7 <8>",
                "eitherTalk talks.ts:19 <20>",
            ],
            "users": ["Voice voices.ts:3 <3>"],
            "references": ["talks.ts", "voices.ts"],
            "types_out": ["string"],
        },
        "boxes.ts#Box@1": {
            "signature": "export interface Box",
            "users": ["open boxes.ts:13 <13>", "pick boxes.ts:19 <20>"],
            "members": ["2 property size: number"],
        },
        "boxes.ts#Box@5": {
            "signature": "export const Box = makeBox()",
            "calls": ["makeBox boxes.ts:7 <5>"],
            "callers": ["open boxes.ts:13 <15>"],
            "type": "typeof (Anonymous class)",
            "value": "makeBox()",
        },
        "boxes.ts#open": {
            "signature": "export function open(box: Box): number",
            "calls": ["pick boxes.ts:19 <14>", "Box boxes.ts:5 <15>"],
            "types_in": ["box: Box <- Box boxes.ts:1"],
            "types_out": ["number"],
        },
        "boxes.ts#left": {
            "signature": "export const { left, right } = sides()",
            "calls": ["sides boxes.ts:25 <23>"],
            "type": "number",
        },
        "boxes.ts#Lid": {
            "signature": "export class Lid",
            "calls": ["Lid.constructor.shut boxes.ts:36 <37>"],
            "members": ["35 constructor constructor()"],
        },
    },
}


def target(words: str) -> SymbolTarget:
    path, _, name = words.partition("#")
    name, _, line = name.partition("@")
    return SymbolTarget(path, name, int(line or 1))


@pytest.fixture(params=sorted(EXPECTED))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, TypeScriptProject]]:
    assert TYPESCRIPT is not None
    project = TypeScriptProject(TYPESCRIPT, str(FIXTURES / request.param), str(tmp_path))
    yield request.param, project
    project.close()


def test_connections(case: tuple[str, TypeScriptProject]) -> None:
    name, project = case
    expected = EXPECTED[name]
    files = discover(str(FIXTURES / name)).files
    found = project.connections([target(words) for words in expected], files)
    for words, connections in zip(expected, found, strict=True):
        assert described(connections) == expected[words], words
