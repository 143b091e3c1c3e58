/**
 * Full and failing disks with only the answers of the disk simulated: three nodes, real files, real sockets, real rows.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { collect, sha256 } from '../blobs/blob-samples.ts'
import { until } from '../helpers/async.ts'
import { copiesOn, type RealNode, RealNodes, type Upload } from './real-nodes.ts'
import { SpoiledDisk } from './spoiled-disk.ts'

t.test('three nodes with spoiled disks', { timeout: 1_800_000 }, async (t) => {
  const disks = new Map(['n1', 'n2', 'n3'].map((nodeId) => [nodeId, new SpoiledDisk()]))
  const disk = (nodeId: string): SpoiledDisk => disks.get(nodeId) ?? new SpoiledDisk()
  const three = await RealNodes.start(t, [1, 1, 1], (nodeId) => disk(nodeId).ops)
  const all: Upload[] = []
  let seed = 0
  /** The blobs are committed when it resolves. */
  const upload = async (count: number, through = 'n1'): Promise<readonly Upload[]> => {
    const uploads = await Promise.all(
      Array.from({ length: count }, () => three.upload(seed++, undefined, through)),
    )
    await three.commit(uploads)
    all.push(...uploads)
    return uploads
  }
  const metric = async ({ cluster }: RealNode, name: string): Promise<number | undefined> => {
    const samples = await cluster.metrics()
    return samples.find((sample) => sample.name === name)?.value
  }
  const isWhole = async (): Promise<boolean> => {
    for (const { ref } of all) if (three.listed(ref).length < 3) return false
    for (const node of three.nodes) if ((await copiesOn(node, all)).length < all.length) return false
    return true
  }
  /** The committed blobs that cannot be read through this node. */
  const unreadable = async ({ cluster }: RealNode): Promise<readonly string[]> => {
    const ids: string[] = []
    for (const { ref } of all) {
      const opened = await cluster.blobs.reading({ ...ref, replicas: three.listed(ref) }).next(0, ref.size)
      const bytes = opened === null ? new Uint8Array() : await collect(opened.pieces)
      if (sha256(bytes) !== ref.checksum) ids.push(ref.id)
    }
    return ids
  }
  const unfinished = ({ directory }: RealNode): Promise<string[]> => readdir(join(directory, 'tmp'))
  const n2 = three.node('n2')
  const allPlaceOn = (...nodeIds: string[]): Promise<void> =>
    until(`all place on ${nodeIds.join(' and ')}`, () =>
      three.nodes.every(({ cluster }) => [...cluster.placement('ff')].sort().join() === nodeIds.join()),
    )

  t.test(
    'continue with two copies while one disk is full, through its gateway too, and make the others once it has space',
    async (t) => {
      disk('n2').fillUp()
      await allPlaceOn('n1', 'n3')
      for (const through of ['n1', 'n2', 'n3']) {
        for (const { ref, missing } of await upload(4, through)) {
          t.strictSame(missing, ['n2'])
          t.strictSame([...ref.replicas].sort(), ['n1', 'n3'])
        }
      }
      await until('the owed copies wait', async () => (await metric(n2, 'holdfast_repair_waiting')) === 12)
      await until('its metrics show that', async () => (await metric(n2, 'holdfast_blob_disk_level')) === 2)
      t.equal(n2.cluster.repairStatus().waitingForDisk, 12)
      const reported = (await n2.cluster.repairStatuses()).find(({ nodeId }) => nodeId === 'n2')
      t.match(reported?.disk, { level: 'stopWriting', isSuspect: false })
      t.equal(await metric(n2, 'holdfast_repair_failed_total'), 0)
      t.strictSame(await copiesOn(n2, all), [])
      t.strictSame(await unfinished(n2), [])
      t.strictSame(await unreadable(n2), [])
      disk('n2').makeRoom()
      await until('all copies are made', isWhole)
      t.equal(await metric(n2, 'holdfast_repair_waiting'), 0)
    },
  )

  t.test(
    'refuse with disk_full while two are full, continue to read, and write again when one has space',
    async (t) => {
      for (const nodeId of ['n2', 'n3']) disk(nodeId).fillUp()
      await allPlaceOn('n1')
      for (const through of ['n1', 'n2', 'n3']) {
        const refused = three.upload(seed++, undefined, through)
        await t.rejects(refused, { name: 'Condition', code: 'disk_full' })
      }
      for (const node of three.nodes) t.strictSame(await unreadable(node), [])
      disk('n3').makeRoom()
      await allPlaceOn('n1', 'n3')
      for (const { missing } of await upload(2)) t.strictSame(missing, ['n2'])
      disk('n2').makeRoom()
      await until('all copies are made', isWhole)
      for (const node of three.nodes) t.strictSame(await unfinished(node), [])
    },
  )

  t.test('lose nothing when a disk fills up in the middle of batches and files', async (t) => {
    await allPlaceOn('n1', 'n2', 'n3')
    disk('n2').bytesLeft = 900_000
    const uploads = await upload(24)
    t.ok(uploads.some(({ missing }) => missing.includes('n2')))
    // On a busy machine some of them come late, as repairs.
    await until('it took the copies that fit', () => disk('n2').bytesLeft < 300_000)
    await until('the owed copies wait', async () => ((await metric(n2, 'holdfast_repair_waiting')) ?? 0) > 0)
    t.strictSame(await unfinished(n2), [])
    t.strictSame(await unreadable(n2), [])
    disk('n2').makeRoom()
    await until('all copies are made', isWhole)
  })

  t.test('lose nothing when a disk fills up in the middle of repairs', async (t) => {
    disk('n2').fillUp()
    await allPlaceOn('n1', 'n3')
    const uploads = await upload(12)
    for (const { missing } of uploads) t.strictSame(missing, ['n2'])
    const failed = async () => (await metric(n2, 'holdfast_repair_failed_total')) ?? 0
    const before = await failed()
    disk('n2').bytesLeft = 700_000
    disk('n2').pretendsRoom = true
    await until('a repair has filled the disk', async () => (await failed()) > before)
    disk('n2').pretendsRoom = false
    await until('the others wait', async () => ((await metric(n2, 'holdfast_repair_waiting')) ?? 0) > 0)
    // One may still write.
    await until('nothing unfinished stays', async () => (await unfinished(n2)).length === 0)
    disk('n2').makeRoom()
    await until('all copies are made', isWhole)
  })

  t.test('continue to read and write while a disk fails, and put no new copy on it', async (t) => {
    const n3 = three.node('n3')
    disk('n3').isFailing = true
    t.strictSame(await unreadable(n3), [])
    await until('it is suspect', async () => (await metric(n3, 'holdfast_blob_disk_suspect')) === 1)
    await allPlaceOn('n1', 'n2')
    for (const through of ['n1', 'n3']) {
      for (const { missing } of await upload(2, through)) t.strictSame(missing, ['n3'])
    }
    for (const node of three.nodes) t.strictSame(await unreadable(node), [])
    const reported = await n3.cluster.repairStatuses()
    t.match(reported.find(({ nodeId }) => nodeId === 'n3')?.disk, { isSuspect: true })
  })
})
