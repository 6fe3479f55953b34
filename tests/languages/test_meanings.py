"""What names mean across files: in components, notebooks, SQL, GraphQL and HCL."""

import pytest

from asterism.analysis.resolve.resolver import Resolver
from tests.analysis.resolve.in_memory_world import InMemoryWorld

COMPONENTS = {
    "web/src/views/App.vue": """<script setup lang="ts">
import LidItem from '../lid-item.vue'
import Shelf from '@/shelf/Shelf.svelte'
import { label } from '~/lids'
const first = label(1)
</script>
<template><LidItem :size="first" /><Shelf /><jar-box>{{ label(2) }}</jar-box></template>
""",
    "web/src/lid-item.vue": "<template><b/></template>\n<script>\nexport default {}\n</script>\n",
    "web/src/shelf/Shelf.svelte": "<script>\n  export let size;\n</script>\n<b>{size}</b>\n",
    "web/src/lids.ts": "export function label(size: number) {}\n",
    "other/src/lids.ts": "export function label(size: number) {}\n",
}
SVELTE = {
    "src/routes/+page.svelte": """<script>
  import { total } from '$lib/stores';
  import Lid from '$lib/Lid.svelte';
  function add() { $total += 1; }
</script>
<Lid on:click={add}>{$total}</Lid>
""",
    "src/lib/stores.ts": "export const total = writable(0);\n",
    "src/lib/Lid.svelte": "<p>lid</p>\n",
}
MODULE = {
    "src/main.ts": "import App from './App.vue';\nexport function start() { return App; }\n",
    "src/App.vue": "<template><p/></template>\n",
}
NOTEBOOK = {
    "notebooks/a.ipynb": """# %% cell 1
from shop.stock import load
import shop.prices as prices
# %% cell 2
def ordered(jar):
    return load(jar)
# %% [markdown] cell 3
prices
# %% cell 4
ordered(prices.total(1))
""",
    "shop/__init__.py": "",
    "shop/stock.py": "def load(name):\n    return name\n",
    "shop/prices.py": "def total(x):\n    return x\n",
}
SQL = {
    "views.sql": """CREATE VIEW spent AS
SELECT c.email, total(o.id) FROM sales.orders o JOIN customers AS c ON c.id = o.customer_id;
""",
    "schema.sql": "CREATE TABLE orders (id int,\n customer_id int);\n"
    "CREATE TABLE customers (id int,\n email text);\n",
    "functions.sql": "CREATE FUNCTION total(id int) RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql;\n",
}
GRAPHQL = {
    "operations.graphql": "query Q { user { ...Parts } }\nfragment Parts on User { email }\n",
    "schema.graphql": "type Query { user: User }\ntype User {\n email: String\n}\n",
}
HCL = {
    "infra/main.tf": """resource "aws_vpc" "main" {
  cidr = var.cidr
  name = local.name
}
output "id" { value = aws_vpc.main.id }
output "ids" { value = module.net.ids }
module "net" { source = "./net" }
""",
    "infra/variables.tf": 'variable "cidr" {}\nlocals {\n  name = "x"\n}\n',
    "infra/net/main.tf": 'variable "cidr" {}\noutput "ids" { value = [] }\n',
    "shop.tfvars": 'cidr = "10.0.0.0/16"\n',
}

# What the first file of each uses, and what that means: `path:name`, nothing where it is unknown.
MEANINGS = [
    (COMPONENTS, "LidItem", "web/src/lid-item.vue:LidItem"),
    (COMPONENTS, "Shelf", "web/src/shelf/Shelf.svelte:Shelf"),
    (COMPONENTS, "label", "web/src/lids.ts:label"),
    (COMPONENTS, "first", "web/src/views/App.vue:first"),
    (COMPONENTS, "JarBox", ""),
    (SVELTE, "total", "src/lib/stores.ts:total"),
    (SVELTE, "Lid", "src/lib/Lid.svelte:Lid"),
    (SVELTE, "add", "src/routes/+page.svelte:add"),
    (MODULE, "App", "src/App.vue:App"),
    (NOTEBOOK, "load", "shop/stock.py:load"),
    (NOTEBOOK, "prices.total", "shop/prices.py:total"),
    (NOTEBOOK, "ordered", "notebooks/a.ipynb:ordered"),
    (SQL, "orders", "schema.sql:orders"),
    (SQL, "customers", "schema.sql:customers"),
    (SQL, "customers.email", "schema.sql:customers.email"),
    (SQL, "orders.customer_id", "schema.sql:orders.customer_id"),
    (SQL, "total", "functions.sql:total"),
    (GRAPHQL, "Parts", "operations.graphql:Parts"),
    (GRAPHQL, "User", "schema.graphql:User"),
    (GRAPHQL, "Query.user", "schema.graphql:Query.user"),
    (GRAPHQL, "User.email", "schema.graphql:User.email"),
    (HCL, "var.cidr", "infra/variables.tf:var.cidr"),
    (HCL, "local.name", "infra/variables.tf:local.name"),
    (HCL, "aws_vpc.main", "infra/main.tf:aws_vpc.main"),
    (HCL, "module.net", "infra/main.tf:module.net"),
    (HCL, "module.net.ids", "infra/net/main.tf:ids"),
]


@pytest.mark.parametrize(("files", "use", "meaning"), MEANINGS)
def test_meaning(files: dict[str, str], use: str, meaning: str) -> None:
    world = InMemoryWorld(files)
    resolver, scope = Resolver(world), world.scope(next(iter(files)))
    assert scope is not None
    found = set()
    for reference in scope.outline.references:
        if ".".join(filter(None, (reference.receiver, reference.name))) == use:
            meant = resolver.resolve(scope, reference)
            declared = meant.declaration if meant else None
            there = world.scope(declared.path) if declared else None
            if there is None or declared is None:
                found.add("")
            else:
                item = there.outline.items[declared.number]
                found.add(f"{declared.path}:{item.qualified_name}")
    assert found == {meaning}
