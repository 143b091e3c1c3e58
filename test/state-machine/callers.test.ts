/**
 * Random lives of an access key and its temporary credentials beside writes that began at any moment of them, against a model of a few lines: a write is stored when its
 * proof is that of the key as it is in that entry, and changes nothing otherwise.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import type { Proposal } from '../../src/state-machine/commands.ts'
import { createBucket, createTenant, MapWorld, put } from './map-world.ts'

const KEY = { accessKeyId: 'AKCALLER', tenantId: 'acme' } as const
const HOUR_MS = 3_600_000

type Step =
  | { readonly do: 'rotate' | 'revoke' | 'disable' }
  | { readonly do: 'pass'; readonly hours: number }
  /** `age`: how many versions of the key ago the request began. `leftMs`: until a temporary credential ends; null: it came with none. */
  | { readonly do: 'write'; readonly age: number; readonly leftMs: number | null }

type Write = Extract<Step, { do: 'write' }>

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('write' as const),
        age: fc.nat({ max: 2 }),
        leftMs: fc.constantFrom(null, null, HOUR_MS, 8, 7, 6, 0),
      }),
    },
    { weight: 3, arbitrary: fc.constant({ do: 'rotate' } as const) },
    { weight: 1, arbitrary: fc.constantFrom({ do: 'revoke' } as const, { do: 'disable' } as const) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), hours: fc.nat({ max: 30 }) }) },
  ),
  { maxLength: 25 },
)

function expected(life: Life, { age, endsAt }: { age: number; endsAt?: number }, time: number): string {
  if (life.isDisabled) return 'tenant_disabled'
  if (life.isRevoked || time >= life.expiresAt) return 'key_revoked'
  if (age > 0) return 'token_invalid'
  return endsAt !== undefined && time >= endsAt ? 'token_expired' : 'stored'
}

interface Life {
  version: number
  isRevoked: boolean
  isDisabled: boolean
  readonly expiresAt: number
}

class World {
  readonly map = new MapWorld()
  readonly life: Life
  #writes = 0

  constructor() {
    this.map.do(createTenant(KEY.tenantId))
    this.map.do(createBucket())
    const expiresAt = this.map.time + 72 * HOUR_MS
    this.life = { version: 1, isRevoked: false, isDisabled: false, expiresAt }
    const scopes = { accountId: null, name: null, scopes: 'write', secret: new Uint8Array([1]) }
    this.map.do({ type: 'createAccessKey', ...KEY, ...scopes, expiresAt })
  }

  run(step: Step): void {
    const { map, life } = this
    if (step.do === 'pass') map.time += step.hours * HOUR_MS
    else if (step.do === 'write') this.#write(step)
    else if (step.do === 'revoke') {
      map.run({ type: 'revokeAccessKey', ...KEY, reason: 'lost' })
      life.isRevoked = true
    } else if (step.do === 'disable') {
      map.run({ type: 'disableTenant', tenantId: KEY.tenantId, reason: 'left' })
      life.isDisabled = true
    } else {
      const secret = new Uint8Array([2])
      if (map.run({ type: 'rotateAccessKey', ...KEY, secret, scopes: null, expiresAt: null }).ok)
        life.version++
    }
  }

  #write(write: Write): void {
    const { map, life } = this
    const keyVersion = life.version - write.age
    // The entry is a few milliseconds later.
    const ending = write.leftMs === null ? {} : { endsAt: map.time + write.leftMs }
    const command = put(`k${this.#writes++}`, { kind: 'empty' }, 0)
    const caller = { accessKeyId: KEY.accessKeyId, keyVersion, ...ending }
    const [reply] = map.entry([{ ...command, caller } satisfies Proposal])
    assert(reply !== undefined)
    assert.equal(reply.ok ? 'stored' : reply.code, expected(life, { age: write.age, ...ending }, map.time))
  }
}

t.test('a write is stored only with the key as it is in its entry', async (t) => {
  fc.assert(
    fc.property(steps, (history) => {
      const world = new World()
      for (const step of history) world.run(step)
    }),
    { numRuns: 300 },
  )
  t.pass()
})

t.test('a key whose row was removed long after its revocation stores nothing', async (t) => {
  const { map } = new World()
  const command = put('k', { kind: 'empty' }, 0)
  const [reply] = map.entry([{ ...command, caller: { accessKeyId: 'AKGONE', keyVersion: 1 } }])
  t.match(reply, { ok: false, code: 'key_revoked' })
})
