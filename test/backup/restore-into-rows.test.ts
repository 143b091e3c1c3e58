/** Rows and versions out of a backup: found by bisection, walked in two orders. [src/backup/restore-into] */
import t from 'tap'
import { BackupRows } from '../../src/backup/restore-into/backup-rows.ts'
import {
  newestFirst,
  oldestFirst,
  placeOf,
  versionAtPlace,
} from '../../src/backup/restore-into/version-walk.ts'
import { comesBefore } from '../../src/state-machine/base/key-order.ts'
import { join, rangeOf, type RowKey } from '../../src/state-machine/base/row-key.ts'
import { versionIdAt } from '../../src/state-machine/base/version-id.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import type { VersionRecord } from '../../src/state-machine/versions/records.ts'
import { frameRow } from '../../src/store/rows/row-block.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { all, rowsOf } from './restore-into-world.ts'

t.test('rows of a backup', async (t) => {
  const names = ['', 'a', 'a!', 'b', 'é', 'ﬀ', '\u{1f600}', 'z'].flatMap((one) =>
    Array.from({ length: 7 }, (_, n) => `${one}${n}`),
  )
  const keys = names
    .map((name) => join<{ name: string }>('thing', name))
    .sort((one, other) => (comesBefore(one, other) ? -1 : 1))
  const stored = new Map<string, object>(keys.map((key) => [key, { name: key }]))
  stored.set(join('other', 'x'), {})
  stored.set(join('tail', 'x'), {})

  for (const perFile of [1, 3, 10, 1000])
    t.test(`are found in files of ${perFile}`, async (t) => {
      const { rows } = rowsOf(stored, perFile)
      for (const key of keys) t.same(await rows.get(key), { name: key })
      t.equal(await rows.get(join('thing', 'a') as RowKey), undefined)
      t.equal(await rows.get(join('zzz', 'a') as RowKey), undefined)
      t.equal(await rows.get(join('aaa', 'a') as RowKey), undefined)
      const range = rangeOf<{ name: string }>('thing')
      t.same(
        (await all(rows.ascending(range))).map(({ key }) => key),
        keys,
      )
      t.same(
        (await all(rows.descending(range))).map(({ key }) => key),
        keys.toReversed(),
      )
      for (const [n, key] of keys.entries()) {
        t.same((await all(rows.ascending(range, key)))[0]?.key, key)
        t.same((await all(rows.descending(range, key)))[0]?.key, keys[n - 1])
      }
      t.equal((await rows.many(keys)).size, keys.length)
    })

  t.test('that are prepared cost one read of each file', async (t) => {
    const { rows, reads } = rowsOf(stored, 2)
    for (const key of keys) await rows.get(key)
    reads.length = 0
    const mixed = keys.toSorted((one, other) => (one.length % 5) - (other.length % 5))
    await rows.prepare(mixed)
    t.equal(new Set(reads).size, reads.length, 'no file twice')
    reads.length = 0
    for (const key of mixed) t.same(await rows.get(key), { name: key })
    t.same(reads, [])
  })

  t.test('that are damaged are a fault of the backup', async (t) => {
    const state = [{ name: '0', size: 0, sha256: '' }]
    const key = keys[0] ?? ''
    const stray = frameRow(keyBytes(key), encodeRow(keyBytes(join('thing', 'other')), { name: key }))
    for (const block of [stray, stray.subarray(0, -1)]) {
      const rows = new BackupRows({ manifest: { state }, rowsIn: async () => block })
      await t.rejects(rows.get(key as RowKey), { name: 'TargetCorrupt' })
      await t.rejects(all(rows.ascending(rangeOf('thing'))), { name: 'TargetCorrupt' })
    }
  })

  t.test('of no file are none', async (t) => {
    const { rows } = rowsOf(new Map(), 1)
    t.equal(await rows.get(join('thing', 'a') as RowKey), undefined)
    t.same(await all(rows.ascending(rangeOf('thing'))), [])
    t.same(await all(rows.descending(rangeOf('thing'))), [])
  })
})

t.test('versions of a bucket', async (t) => {
  const stored = new Map<string, object>()
  const byKey = new Map<string, VersionRecord[]>()
  let index = 0
  for (const [n, key] of ['a', 'a!', 'a/b', 'b', 'c', '\u{1f600}', 'ﬀ'].entries())
    for (let round = 0; round <= n; round++) {
      const versionId = versionIdAt({ index: ++index, orderTime: index, ordinal: 0 })
      const isMarker = n % 3 === 2 && round === n
      const isNewest = round === n
      const about = {
        key,
        versionId,
        isNull: false,
        lastModified: 1,
        older: null,
        newer: isNewest ? null : 'x',
      }
      const version = { kind: isMarker ? 'deleteMarker' : 'object', ...about } as VersionRecord
      byKey.set(key, [...(byKey.get(key) ?? []), version])
      const isCurrent = isNewest && !isMarker
      stored.set(
        isCurrent ? versionKeys.object('bkt', key) : versionKeys.version('bkt', key, versionId),
        version,
      )
      stored.set(versionKeys.version('other', key, versionId), version)
    }
  const keys = [...byKey.keys()].sort((one, other) => (comesBefore(one, other) ? -1 : 1))
  const ids = (versions: readonly VersionRecord[]) => versions.map(({ versionId }) => versionId)
  const ascending = ids(keys.flatMap((key) => (byKey.get(key) ?? []).toReversed()))
  const descending = ids(keys.toReversed().flatMap((key) => byKey.get(key) ?? []))

  for (const perFile of [1, 4, 100])
    t.test(`come in both orders, from any place on, in files of ${perFile}`, async (t) => {
      const { rows } = rowsOf(stored, perFile)
      const forward = await all(newestFirst(rows, 'bkt', null))
      t.same(ids(forward), ascending)
      t.same(ids(await all(oldestFirst(rows, 'bkt', null))), descending)
      for (const version of forward) {
        const place = placeOf(version)
        t.same(await versionAtPlace(rows, 'bkt', place), version)
        const { versionId } = version
        t.same(
          ids(await all(newestFirst(rows, 'bkt', place))),
          ascending.slice(ascending.indexOf(versionId) + 1),
        )
        t.same(
          ids(await all(oldestFirst(rows, 'bkt', place))),
          descending.slice(descending.indexOf(versionId) + 1),
        )
      }
    })
})
