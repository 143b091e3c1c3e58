/**
 * Steps of an exchange of a data key in random histories, with bytes that show which key seals them.
 *
 * Owns: what such bytes look like, and what must hold of rows. Rules: the second byte of a small body and the checksum of a chunk name the version
 * of the key; what a node proposes was read before, so it may be old when it is applied.
 */
import assert from 'node:assert/strict'
import { kindOf } from '../../src/state-machine/base/row-key.ts'
import { birthOf } from '../../src/state-machine/chunks/births.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import type { ChunkUse, PutBody } from '../../src/state-machine/chunks/commands.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import type { InlineBodyRecord } from '../../src/state-machine/bodies/records.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type {
  KeyExchangeCommand,
  ResealedBody,
  ResealedChunk,
} from '../../src/state-machine/key-exchange/commands.ts'
import {
  dataKeyVersionOf,
  keyVersionMember,
  keyVersionOf,
} from '../../src/state-machine/tenants/data-keys.ts'
import type { TenantRecord } from '../../src/state-machine/tenants/records.ts'
import type { VersionRecord } from '../../src/state-machine/versions/records.ts'
import { type MapWorld, rowsOf } from './map-world.ts'

type Rows = Pick<MapWorld, 'rows'>
type Known = Rows & Pick<MapWorld, 'index'>

export const EXCHANGE_WEIGHTS = { exchangeTenantKey: 1, resealBodies: 2, endKeyExchange: 2 } as const
export type ExchangeOp = keyof typeof EXCHANGE_WEIGHTS

const ITEMS_MAX = 100
/** Births of chunks that are sealed again are far from those of uploads. */
const RESEALED_FROM = 1_000_000_000

export function tenantIn(world: Rows, id = 'acme'): TenantRecord | undefined {
  return world.rows.get(`tenant\u0000${id}`) as TenantRecord | undefined
}

/** The key with which a node seals that has applied so much: mostly the present one. */
export function sealingVersion(world: Rows, more: number): number {
  const tenant = tenantIn(world)
  const version = tenant === undefined ? 1 : dataKeyVersionOf(tenant)
  return more % 8 === 6 ? Math.max(1, version - 1) : version
}

/** The second byte names the key. */
export function sealedBody(first: number, version: number): PutBody {
  const sealed = Uint8Array.of(first, version)
  return { kind: 'inline', chunkId: 'ci', sealed, ...keyVersionMember(version) }
}

export function sealedUse(use: ChunkUse, version: number): ChunkUse {
  return { ...use, checksum: sumOf(use.id, version), ...keyVersionMember(version) }
}

export function exchangeCommand(
  op: ExchangeOp,
  world: Known,
  { more, n }: { readonly more: number; readonly n: number },
): Command | null {
  const tenant = tenantIn(world)
  if (tenant === undefined) return null
  const version = dataKeyVersionOf(tenant)
  const operation = tenant.formerKey?.operation ?? 'none'
  switch (op) {
    case 'exchangeTenantKey':
      return {
        type: op,
        tenantId: 'acme',
        operationId: `x${world.index}-${n}`,
        requestedBy: 'olga',
        reason: 'yearly',
        maxBytesPerSecond: null,
        from: more % 9 === 8 ? version + 1 : version,
        dataKey: Uint8Array.of(version + 1, 77),
        masterKeyId: 'mk-1',
      }
    case 'resealBodies': {
      const chunks = resealedChunks(world, tenant, { more, n })
      const bodies = resealedBodies(world, tenant)
      if (chunks.length + bodies.length === 0) return null
      const about = { tenantId: 'acme', operation, keyVersion: version, copiesMin: 2 }
      return { type: op, ...about, chunks, bodies }
    }
    case 'endKeyExchange':
      return { type: op, tenantId: 'acme', operation }
  }
}

function resealedChunks(
  world: Known,
  tenant: TenantRecord,
  { more, n }: { readonly more: number; readonly n: number },
): readonly ResealedChunk[] {
  const version = dataKeyVersionOf(tenant)
  const old = rowsOf<ChunkRecord>(world, 'chunk').filter(
    (chunk) => chunk.tenantId === 'acme' && chunk.references > 0 && keyVersionOf(chunk) !== version,
  )
  return old.slice(0, ITEMS_MAX).map(({ id, birth, sealedSize }, i) => ({
    chunkId: id,
    from: birth,
    birth: birthOf('birth', RESEALED_FROM + world.index * 1000 + n * 100 + i),
    sealedSize,
    checksum: sumOf(id, version),
    replicas: more % 7 === 3 ? ['n1'] : ['n1', 'n3'],
    missing: more % 2 === 0 ? ['n2'] : [],
  }))
}

function resealedBodies(world: Known, tenant: TenantRecord): readonly ResealedBody[] {
  const version = dataKeyVersionOf(tenant)
  const buckets = rowsOf<BucketRecord>(world, 'bucket').filter(({ tenantId }) => tenantId === 'acme')
  return buckets
    .flatMap(({ id: bucketId, name: bucket }) =>
      [...world.rows].flatMap(([key, row]): readonly ResealedBody[] => {
        if (!key.startsWith(`in\u0000${bucketId}\u0000`)) return []
        return namesIn(kindOf(key), row).flatMap((bodyId) => {
          const body = world.rows.get(`in\u0000${bucketId}\u0000inlineBody\u0000${bodyId}`) as
            | InlineBodyRecord
            | undefined
          if (body === undefined || keyVersionOf(body) === version) return []
          return [{ bucket, bucketId, bodyId, sealed: Uint8Array.of(body.sealed[0] ?? 0, version) }]
        })
      }),
    )
    .slice(0, ITEMS_MAX)
}

interface Parts {
  readonly parts: readonly { readonly partId: string; readonly body: { readonly kind: string } }[]
}

/** The ids of the small bodies that a row names. */
function namesIn(kind: string, row: object): readonly string[] {
  if (kind === 'partPage' || kind === 'uploadPage')
    return (row as Parts).parts.flatMap(({ partId, body }) => (body.kind === 'inline' ? [partId] : []))
  if (kind !== 'object' && kind !== 'version') return []
  const version = row as VersionRecord
  return version.kind === 'object' && version.body.kind === 'inline' ? [version.versionId] : []
}

/** Of what users see nothing changes; the model only knows which keys there are. */
export class ModelKeys {
  #present = 1
  #former: number | null = null

  has({ keyVersion = 1 }: { readonly keyVersion?: number }): boolean {
    return keyVersion === this.#present || keyVersion === this.#former
  }

  /** The expected refusal of a body; null: none for its keys. */
  codeFor(body: PutBody): string | null {
    if (body.kind === 'empty') return null
    const parts = body.kind === 'inline' ? [body] : body.chunks.filter(({ existing }) => !existing)
    return parts.every((part) => this.has(part)) ? null : 'chunks_gone'
  }

  /** Asserts the reply. What is left under the former key only rows know. */
  take(command: KeyExchangeCommand, reply: { readonly ok: boolean; readonly code?: string }): void {
    // Without an exchange there is no operation of one.
    if (!reply.ok) return assert(['precondition_failed', 'not_found'].includes(reply.code ?? ''))
    if (command.type === 'exchangeTenantKey') {
      assert.equal(command.from, this.#present)
      assert.equal(this.#former, null, 'there is one former key at most')
      this.#former = this.#present
      this.#present += 1
    } else if (command.type === 'endKeyExchange') {
      assert.notEqual(this.#former, null)
      this.#former = null
    } else assert.equal(command.keyVersion, this.#present)
  }
}

export function isExchange(command: Command): command is KeyExchangeCommand {
  return Object.hasOwn(EXCHANGE_WEIGHTS, command.type)
}

/** A row names a key that its tenant has, and its bytes are sealed with that key. */
export function checkSeals({ rows }: Rows): void {
  const tenant = tenantIn({ rows })
  if (tenant === undefined) return
  const held = [dataKeyVersionOf(tenant), tenant.formerKey?.version]
  for (const [key, row] of rows) {
    const kind = kindOf(key)
    if (kind === 'chunk') {
      const chunk = row as ChunkRecord
      if (chunk.tenantId !== 'acme') continue
      assert(held.includes(keyVersionOf(chunk)), `chunk "${chunk.id}" names a key that is gone`)
      assert.equal(
        chunk.checksum,
        sumOf(chunk.id, keyVersionOf(chunk)),
        `chunk "${chunk.id}" is sealed with another key`,
      )
    } else if (kind === 'inlineBody') {
      const body = row as InlineBodyRecord
      // Another tenant seals with its first key.
      if (body.sealed.length !== 2) continue
      assert(held.includes(keyVersionOf(body)), `${key} names a key that is gone`)
      assert.equal(body.sealed[1], keyVersionOf(body), `${key} is sealed with another key`)
    }
  }
}

function sumOf(id: string, version: number): string {
  return `sum-${id}/${version}`
}
