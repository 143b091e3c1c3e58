/** Commands of an exchange of a data key, for the tests of it: the tenant is `acme`, its first key is 1 byte. */
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import type {
  KeyExchangeCommand,
  ResealedBody,
  ResealedChunk,
} from '../../src/state-machine/key-exchange/commands.ts'
import { leftUnderFormer } from '../../src/state-machine/key-exchange/key-exchange.ts'
import { dataKeyVersionOf } from '../../src/state-machine/tenants/data-keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import type { SealedRecord, TenantRecord } from '../../src/state-machine/tenants/records.ts'
import { type MapWorld, put, putChunks, worldWithBucket } from './map-world.ts'

type Of<T extends KeyExchangeCommand['type']> = Extract<KeyExchangeCommand, { type: T }>

export function exchange(operationId: string, from = 1): Of<'exchangeTenantKey'> {
  return {
    type: 'exchangeTenantKey',
    tenantId: 'acme',
    operationId,
    requestedBy: 'olga',
    reason: 'yearly',
    maxBytesPerSecond: null,
    from,
    dataKey: Uint8Array.of(from + 1, from + 1),
    masterKeyId: 'mk-1',
  }
}

/** What a node proposes that sealed this chunk again. */
export function resealed(world: MapWorld, chunkId: string, more: Partial<ResealedChunk> = {}): ResealedChunk {
  const from = world.get(chunkKeys.chunk('acme', chunkId))?.birth ?? 'none'
  const about = { sealedSize: 38, checksum: `again-${chunkId}`, replicas: ['n1', 'n3'], missing: [] }
  return { chunkId, from, birth: `birth-again${chunkId}`, ...about, ...more }
}

/** The small body of the present version of this key. */
export function resealedBody(world: MapWorld, key: string, more: Partial<ResealedBody> = {}): ResealedBody {
  const { bucketId, bodyId } = bodyOf(world, key)
  const length = world.get(bodyKeys.inlineBody(bucketId, bodyId))?.sealed.length ?? 1
  return { bucket: 'photos', bucketId, bodyId, sealed: new Uint8Array(length).fill(9), ...more }
}

export function bodyOf(world: MapWorld, key: string): { readonly bucketId: string; readonly bodyId: string } {
  const bucketId = world.get(bucketKeys.bucket('acme', 'photos'))?.id ?? ''
  const row = [...world.rows].find(([name]) => name === `in\u0000${bucketId}\u0000object\u0000${key}`)?.[1]
  return { bucketId, bodyId: (row as { readonly versionId: string } | undefined)?.versionId ?? '' }
}

export function reseal(
  world: MapWorld,
  items: { readonly chunks?: readonly ResealedChunk[]; readonly bodies?: readonly ResealedBody[] },
  operation = 'op1',
): Of<'resealBodies'> {
  const keyVersion = dataKeyVersionOf(acme(world))
  const about = { tenantId: 'acme', operation, keyVersion, copiesMin: 2 } as const
  return { type: 'resealBodies', ...about, chunks: items.chunks ?? [], bodies: items.bodies ?? [] }
}

export function endExchange(operation = 'op1'): Of<'endKeyExchange'> {
  return { type: 'endKeyExchange', tenantId: 'acme', operation }
}

export function acme(world: MapWorld): TenantRecord {
  const tenant = world.get(tenantKeys.tenant('acme'))
  if (tenant === undefined) throw new Error('acme is not there')
  return tenant
}

export function left(world: MapWorld): SealedRecord {
  return leftUnderFormer(world, 'acme')
}

export function putSmall(key: string, keyVersion?: number, bytes = 5) {
  const body = { kind: 'inline', chunkId: `id-of-${key}`, sealed: new Uint8Array(bytes).fill(1) } as const
  return put(key, keyVersion === undefined ? body : { ...body, keyVersion }, 3)
}

export const chunkOf = (world: MapWorld, id: string) => world.get(chunkKeys.chunk('acme', id))

/** `acme`, with these chunks in one object, in an exchange. */
export function exchanging(...chunks: readonly string[]): MapWorld {
  const world = worldWithBucket()
  if (chunks.length > 0) world.do(putChunks('k', chunks))
  world.do(exchange('op1'))
  return world
}
