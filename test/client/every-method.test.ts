/**
 * Every method of both clients against running servers: the examples of the documents, in their order.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import { HoldfastAdmin } from '../../packages/client/src/admin.ts'
import type { Route } from '../../packages/client/src/call/operation.ts'
import { ADMIN_ROUTES } from '../../packages/client/src/generated/admin-operations.ts'
import { DATA_ROUTES } from '../../packages/client/src/generated/data-operations.ts'
import { Holdfast } from '../../packages/client/src/index.ts'
import { type Answers, type Example, filled } from '../../src/api/examples/example.ts'
import { ApiWorld } from '../api/api-world.ts'
import { exampleOf, isAdmin, operationIdOf, PREPARED, STORY } from '../api/example-story.ts'
import { TWO_DISKS } from '../helpers/disk-samples.ts'
import { foundThree } from '../helpers/membership-samples.ts'

type Method = (this: object, ...given: readonly object[]) => Promise<unknown>

const ROUTES: Readonly<Record<string, Route>> = { ...DATA_ROUTES, ...ADMIN_ROUTES }

/** The options by which a method sends what the example sends. */
function inputOf(route: Route, example: Example, answers: Answers): Record<string, unknown> {
  const { params = {}, query = {}, headers = {}, body } = filled(example, answers)
  const input: Record<string, unknown> = {}
  for (const [name, value] of Object.entries({ ...params, ...query })) input[name] = value
  for (const [name, value] of Object.entries(headers)) {
    const [option] = Object.entries(route.options).find(([, place]) => place.name === name) ?? []
    const prefixed = Object.entries(route.options).find(
      ([, place]) => place.name.endsWith('*') && name.startsWith(place.name.slice(0, -1)),
    )
    if (name === 'X-Service-Tagging') input['tags'] = Object.fromEntries(new URLSearchParams(value as string))
    else if (option !== undefined) input[option] = value
    else if (prefixed !== undefined) input[prefixed[0]] = { [name.slice(prefixed[1].name.length - 1)]: value }
    else if (name !== 'X-Service-Idempotency-Key' && name !== 'Accept-Encoding')
      assert.ok(route.fields.length > 0, `${name} is an option`)
  }
  if (body === undefined) return input
  return route.body === 'bytes' ? { ...input, body } : { ...input, ...(body as object) }
}

t.test('every method does what its example shows', async (t) => {
  const world = await ApiWorld.start(t, { publicUrl: 'https://storage.example.com' })
  await foundThree(world.memory)
  world.memory.repairs = TWO_DISKS
  await world.memory.change(PREPARED)
  const dataUrl = `http://127.0.0.1:${world.dataPort}`
  const endpoints = [`http://127.0.0.1:${world.adminPort}`]
  const admin = new HoldfastAdmin({ endpoints, token: await world.memory.adminToken('owner') })
  let data = new Holdfast({ endpoints: dataUrl })
  const answers: Record<string, unknown> = {}
  const reached = new Set<string>()
  for (const id of STORY) {
    const operation = operationIdOf(id)
    if (operation === 'preflightSigned') continue
    const route = ROUTES[operation]
    assert.ok(route !== undefined, operation)
    const client: object = isAdmin(id) ? admin : data
    const input = inputOf(route, exampleOf(id), answers)
    const seen: number[] = []
    const options = { onAnswer: ({ status }: { status: number }) => void seen.push(status) }
    const given = Object.keys(input).length === 0 && method(client, operation).length === 1 ? [] : [input]
    const answer = await method(client, operation).call(client, ...given, options)
    t.ok(seen.length === 1 && (seen[0] ?? 500) < 300, `${id}: ${seen.join()}`)
    answers[id] = answer
    reached.add(operation)
    if (hasBody(answer)) await new Response(answer.body).arrayBuffer()
    if (id === 'createToken') data = new Holdfast({ endpoints: dataUrl, token: (answer as Minted).token })
  }
  t.same([...reached].sort(), Object.keys(ROUTES).sort(), 'each operation has a method')
})

interface Minted {
  readonly token: string
}

function method(client: object, name: string): Method {
  const found: unknown = Reflect.get(client, name)
  assert.ok(typeof found === 'function', `${name} is a method`)
  return found as Method
}

const hasBody = (answer: unknown): answer is { readonly body: ReadableStream<Uint8Array> } =>
  typeof answer === 'object' && answer !== null && 'body' in answer
