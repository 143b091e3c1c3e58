/** The files of a backup: what opens, what is refused, and bytes of the first version. [docs/formats/backup.md] */
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { decodeChunks, encodeChunks } from '../../src/backup/format/chunk-list.ts'
import {
  backupKeyContext,
  decodeManifest,
  encodeManifest,
  type Manifest,
} from '../../src/backup/format/manifest.ts'
import {
  chunkName,
  isBackupId,
  manifestIn,
  manifestName,
  newBackupId,
} from '../../src/backup/format/names.ts'
import { openFile, sealFile } from '../../src/backup/format/sealed-file.ts'
import { groupsOf } from '../../src/backup/run/cut-writer.ts'
import { TargetCorrupt, TargetRefused } from '../../src/backup/targets/target.ts'

const KEY = Buffer.alloc(32, 3)
const NAME = 'backups/c/b/a/state-000000'
const masterKey = MasterKey.fromBytes('mk-test', Buffer.alloc(32, 1))
const ENTRY = {
  id: 'ab'.repeat(32),
  checksum: 'cd'.repeat(32),
  sealedSize: 116,
  size: 100,
  tenantId: 'acme',
  birth: 's-1',
}
/** Written by the first version for NAME under KEY. */
const FIRST =
  '4846424b01f5443edde8a20839a4d3b5be095a5a903e1ea11cbf7e4217d447cbc96504cb853b0862550879b7d4dac766eeca2cece68c9407a059fca05567a9ce6b50d781917c0786d9641bc137ed2df8d2eb989f1fe00265358d'

t.test('a sealed file', async (t) => {
  t.test('opens to what was sealed, and each seal differs', async (t) => {
    const plain = Buffer.from('rows '.repeat(1_000))
    const [one, other] = [await sealFile(KEY, NAME, plain), await sealFile(KEY, NAME, plain)]
    t.notOk(one.equals(other))
    t.ok((await openFile(KEY, NAME, one)).equals(plain))
    t.ok(one.length < 200, 'it is compressed')
  })

  t.test('of the first version opens', async (t) => {
    t.equal((await openFile(KEY, NAME, Buffer.from(FIRST, 'hex'))).toString(), 'the first version')
  })

  t.test('does not open with any byte changed, under another name or key, cut or longer', async (t) => {
    const sealed = await sealFile(KEY, NAME, Buffer.from('rows'))
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      await t.rejects(openFile(KEY, NAME, changed), TargetCorrupt, `byte ${at}`)
    }
    await t.rejects(openFile(KEY, 'backups/c/b/a/state-000001', sealed), TargetCorrupt)
    await t.rejects(openFile(Buffer.alloc(32, 4), NAME, sealed), TargetCorrupt)
    await t.rejects(openFile(KEY, NAME, sealed.subarray(0, -1)), TargetCorrupt)
    await t.rejects(openFile(KEY, NAME, Buffer.concat([sealed, Buffer.of(0)])), TargetCorrupt)
    await t.rejects(openFile(KEY, NAME, Buffer.alloc(0)), TargetCorrupt)
  })
})

t.test('a manifest', async (t) => {
  const backupId = '20261127t120000z-0123abcd'
  const key = Buffer.from(masterKey.seal(KEY, backupKeyContext(backupId))).toString('base64')
  const manifest = { format: 1, backupId, clusterId: 'Cluster-1', key, chunks: 5 } as Manifest
  const bytes = encodeManifest(manifest, KEY)

  t.test('opens under the master key', async (t) => {
    const opened = decodeManifest<Manifest>('m', bytes, masterKey)
    t.same(opened.manifest, manifest)
    t.ok(Buffer.from(opened.backupKey).equals(KEY))
  })

  t.test('is refused when a member was changed, or the seal is missing', async (t) => {
    const changed = Buffer.from(bytes.toString().replace('"chunks":5', '"chunks":4'))
    t.throws(() => decodeManifest('m', changed, masterKey), TargetCorrupt)
    const [line = ''] = bytes.toString().split('\n')
    t.throws(() => decodeManifest('m', Buffer.from(`${line}\n`), masterKey), TargetCorrupt)
    t.throws(() => decodeManifest('m', Buffer.from('nonsense'), masterKey), TargetCorrupt)
    t.throws(() => decodeManifest('m', Buffer.from('null\n'), masterKey), TargetCorrupt)
    t.throws(
      () => decodeManifest('m', encodeManifest({ ...manifest, format: 2 as 1 }, KEY), masterKey),
      /format 2/,
    )
  })

  t.test('does not open under another master key', async (t) => {
    const other = MasterKey.fromBytes('mk-test', Buffer.alloc(32, 2))
    t.throws(() => decodeManifest('m', bytes, other), TargetRefused)
  })
})

t.test('a list of chunks comes back, and one that was cut or names no chunk does not', async (t) => {
  const bytes = encodeChunks([ENTRY, { ...ENTRY, id: 'ff'.repeat(32) }])
  t.same(decodeChunks('x', bytes), [ENTRY, { ...ENTRY, id: 'ff'.repeat(32) }])
  for (const bad of [bytes.subarray(0, -1), Buffer.from('[]\n'), Buffer.from('{\n'), Buffer.from('["a"]\n')])
    t.throws(() => decodeChunks('x', bad), TargetCorrupt)
})

t.test('names', async (t) => {
  const id = newBackupId(new Date('2026-11-27T12:00:00.123Z'))
  t.match(id, /^20261127t120000z-[0-9a-f]{8}$/)
  t.ok(isBackupId(id))
  t.same(manifestIn(manifestName('Cluster-1', id)), { cluster: 'cluster-1', backupId: id })
  for (const other of [
    'backups/c/manifest.json',
    `backups/c/${id}/a/manifest.json`,
    `x/c/${id}/manifest.json`,
  ])
    t.equal(manifestIn(other), null, other)
  t.equal(chunkName('Cluster-1', ENTRY), `chunks/cluster-1/ab/${ENTRY.id}.${ENTRY.checksum}`)
})

t.test('shards are listed together up to a bound, each once', async (t) => {
  const perShard = new Map([
    ['00', 5],
    ['01', 5],
    ['02', 1],
    ['10', 30],
    ['ff', 9],
  ])
  t.same(groupsOf(perShard, 10), [['00', '01'], ['02'], ['10'], ['ff']])
  t.same(groupsOf(new Map(), 10), [])
})
