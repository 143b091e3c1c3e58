import t from 'tap'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import type { RowKey } from '../../src/state-machine/base/row-key.ts'
import { decodeCommand, decodeReply, encodeCommand, encodeReply } from '../../src/commands/command-codec.ts'
import {
  decodeRow,
  encodeRow,
  keyBytes,
  openRow,
  RowDamagedError,
  sealRow,
} from '../../src/store/rows/row-codec.ts'
import {
  createTenant,
  dropCopy,
  found,
  MapWorld,
  put,
  putChunks,
  worldWithBucket,
} from '../state-machine/map-world.ts'

/** One row of every kind that a busy world holds. */
function busyWorld(): MapWorld {
  const world = worldWithBucket()
  world.do({ type: 'setClusterKey', masterKeyFingerprint: 'f' })
  world.do(put('inline 😀', { kind: 'inline', chunkId: 'c', sealed: Buffer.alloc(64, 5) }, 40))
  world.do(putChunks('chunks', ['c1', 'c2']))
  world.do(dropCopy('c1', 'n1'))
  return world
}

t.test('row codec', (t) => {
  t.test('gives every row back as it was, bytes as bytes', (t) => {
    for (const [key, row] of busyWorld().rows) {
      t.same(decodeRow(key, encodeRow(keyBytes(key), row)), row)
    }
    t.same(openRow(keyBytes('k'), sealRow(keyBytes('k'), Uint8Array.of(1, 2))), [1, 2])
    t.same(openRow(keyBytes('k'), sealRow(keyBytes('k'), new Uint8Array())), [])
    t.end()
  })

  t.test('throws for every single flipped bit of a stored value', (t) => {
    let flips = 0
    for (const [key, row] of busyWorld().rows) {
      const value = encodeRow(keyBytes(key), row)
      for (let bit = 0; bit < value.length * 8; bit++) {
        const damaged = Buffer.from(value)
        damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        flips++
        if (!throwsDamaged(() => decodeRow(key, damaged))) t.fail(`bit ${bit} of ${key}`)
      }
    }
    t.ok(flips > 5000, `${flips} flips`)
    t.end()
  })

  t.test('throws for every value cut short, and for one that grew', (t) => {
    const key = keyBytes('clusterKey')
    const value = encodeRow(key, { masterKeyFingerprint: 'f' })
    for (let length = 0; length < value.length; length++) {
      t.ok(throwsDamaged(() => openRow(key, value.subarray(0, length))))
    }
    t.ok(throwsDamaged(() => openRow(key, Buffer.concat([value, Buffer.of(0)]))))
    t.end()
  })

  t.test('throws for every value under every other key', (t) => {
    const stored = [...busyWorld().rows].map(([key, row]) => ({ key, value: encodeRow(keyBytes(key), row) }))
    for (const { key } of stored) {
      for (const other of stored) {
        if (other.key !== key && !throwsDamaged(() => decodeRow(key, other.value))) t.fail(`${other.key}`)
      }
    }
    t.end()
  })

  t.test('names the kind of the damaged row and nothing that is private', (t) => {
    const key: RowKey<ObjectRecord> = versionKeys.object('B1', 'private-name')
    const value = encodeRow(keyBytes(key), { masterKeyFingerprint: 'private-data' })
    value[8] = 0
    try {
      decodeRow(key, value)
      t.fail('it was accepted')
    } catch (error) {
      t.match(error, { name: 'RowDamagedError', kind: 'object' })
      t.notMatch(String(error), /private/)
    }
    t.end()
  })
  t.end()
})

t.test('command codec', (t) => {
  t.test('gives every command and reply back as it was', (t) => {
    const command = putChunks('k', ['c1', found('c2')])
    t.same(decodeCommand(encodeCommand(command)), command)
    t.same(decodeCommand(encodeCommand(createTenant('acme'))), createTenant('acme'))
    const gone = { ok: false, code: 'chunks_gone', message: 'm', chunks: ['c2'] } as const
    t.same(decodeReply(encodeReply(gone)), gone)
    t.same(decodeReply(encodeReply({ ok: true, value: null })), { ok: true, value: null })
    t.end()
  })

  t.test('throws for what is no known command and for what is no reply', (t) => {
    const bytesOf = (value: object) => encodeCommand(value as never)
    t.throws(() => decodeCommand(bytesOf({ type: 'makeCoffee' })), /makeCoffee/)
    t.throws(() => decodeCommand(bytesOf({ type: 'constructor' })), /constructor/)
    for (const bad of [{}, [], [{ type: 'createTenant' }], Buffer.of(1)]) {
      t.throws(() => decodeCommand(bytesOf(bad)))
      t.throws(() => decodeReply(bytesOf(bad)))
    }
    t.throws(() => decodeCommand(Buffer.of()))
    t.throws(() => decodeReply(bytesOf({ ok: 1 })))
    t.end()
  })
  t.end()
})

function throwsDamaged(read: () => unknown): boolean {
  try {
    read()
    return false
  } catch (error) {
    return error instanceof RowDamagedError
  }
}
