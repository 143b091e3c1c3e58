/**
 * The race without its systems: the connection against a real server, the options, the verdict.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { median } from '../../scripts/bench/statistics.ts'
import { chartOf } from '../../scripts/race/chart.ts'
import { disquiet, sampleMachine, usedSince } from '../../scripts/race/machine.ts'
import { parseRaceOptions } from '../../scripts/race/options.ts'
import { RaceSocket } from '../../scripts/race/race-socket.ts'
import { pageOf, type RaceReport } from '../../scripts/race/report.ts'
import { ROW_IDS } from '../../scripts/race/rows.ts'
import { readRunning } from '../../scripts/race/running-s3.ts'
import { s3Dialect } from '../../scripts/race/s3-dialect.ts'
import { headOf } from '../../scripts/race/system.ts'
import type { Cell, Turn } from '../../scripts/race/turn.ts'

async function served(t: Test, listener: RequestListener): Promise<RaceSocket> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const socket = new RaceSocket(`http://127.0.0.1:${port}`)
  t.teardown(() => {
    socket.close()
    server.close()
  })
  return socket
}

function asking(method: string, body: Buffer | Iterable<Buffer> | null = null, bytes: number | null = null) {
  const head = headOf({ method, path: '/a', host: 'x', headers: '', bytes })
  return { head, body, status: 200, isHead: method === 'HEAD' }
}

t.test('a description of a system that runs already', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-race-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const about = {
    name: 'garage',
    version: '2.0.0',
    durability: 'flushed on two',
    endpoints: ['http://127.0.0.1:3900', 'http://[::1]:3910'],
    accessKeyId: 'GK1',
    secretKey: 'secret',
    pids: [process.pid],
    folder,
  }
  const read = (members: object) => {
    const file = join(folder, 'about.yaml')
    writeFileSync(file, JSON.stringify({ ...about, ...members }))
    return readRunning(file)
  }
  t.same(read({}), about)
  t.same(read({ pids: undefined }).pids, [])
  t.throws(() => readRunning(join(folder, 'none')), { message: /there is no file/ })
  t.throws(() => read({ durability: '' }), { message: /'durability'.*must be a text/ })
  t.throws(() => read({ folder: join(folder, 'none') }), { message: /'folder'.*a folder that exists/ })
  t.throws(() => read({ pids: ['1'] }), { message: /'pids'.*ids of processes that run/ })
  for (const endpoints of [[], 'http://127.0.0.1', ['http://192.0.2.1:3900'], ['http://127.0.0.1:1/path']])
    t.throws(() => read({ endpoints }), { message: /'endpoints'.*of loopback and without a path/ })
  t.end()
})

t.test('a connection of the race', async (t) => {
  await t.test('reads answers with a length, in chunks, without a body, one after the other', async (t) => {
    const large = Buffer.alloc(300_000, 'ab')
    const socket = await served(t, (request, response) => {
      if (request.method === 'GET') response.end(large)
      if (request.method === 'POST') {
        response.write(large.subarray(0, 100))
        response.write(large.subarray(100))
        response.end()
      }
      if (request.method === 'HEAD') response.setHeader('content-length', 77).end()
      if (request.method === 'DELETE') response.writeHead(204).end()
    })
    for (let round = 0; round < 2; round++) {
      t.match(await socket.ask(asking('GET')), { status: 200, bytes: large.length })
      t.ok((await socket.ask(asking('GET'), true)).kept.equals(large))
      t.ok((await socket.ask(asking('POST', Buffer.alloc(0), 0), true)).kept.equals(large))
      t.match(await socket.ask(asking('HEAD')), { status: 200, bytes: 0 })
      t.match(await socket.ask(asking('DELETE')), { status: 204, bytes: 0 })
    }
  })

  await t.test('sends a body whole and piece by piece', async (t) => {
    const socket = await served(t, async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      response.end(Buffer.concat(pieces))
    })
    const pieces = Array.from({ length: 40 }, (_, at) => Buffer.alloc(100_000, `${at}`))
    const whole = Buffer.concat(pieces)
    t.ok((await socket.ask(asking('PUT', whole, whole.length), true)).kept.equals(whole))
    t.ok((await socket.ask(asking('PUT', pieces, whole.length), true)).kept.equals(whole))
  })

  await t.test('connects again after the server closed, and says that a request got no answer', async (t) => {
    let count = 0
    const socket = await served(t, (request, response) => {
      count++
      if (count === 1) response.setHeader('connection', 'close').end('x')
      else if (count === 2) request.socket.destroy()
      else response.end('yz')
    })
    t.match(await socket.ask(asking('GET')), { bytes: 1 })
    await t.rejects(socket.ask(asking('GET')), /closed the connection|ECONNRESET/)
    t.match(await socket.ask(asking('GET')), { bytes: 2 })
  })
})

t.test('options of the race', async (t) => {
  t.match(parseRaceOptions([]), { seconds: 5, operations: null, passes: 2, clients: 64, chosen: ROW_IDS })
  t.match(parseRaceOptions(['--operations', '9']), { seconds: 120, operations: 9 })
  t.equal(parseRaceOptions(['--help']), null)
  t.throws(() => parseRaceOptions(['--rows', 'put-4k,put-5k']), /no 'put-5k', expected some of put-1k/)
  t.throws(() => parseRaceOptions(['--out', 'x.txt']), /ends in \.md, got 'x\.txt'/)
  t.throws(() => parseRaceOptions(['--against-config', 'x']), /name a checkout/)
})

const QUIET_CELL = { stolenShare: 0, othersShare: 0.01 }

function turn(system: string, perSecond: number, machine = QUIET_CELL): Turn {
  const cell: Cell = {
    row: 'put-4k',
    name: 'PUT 4 KiB',
    operations: 1000,
    seconds: 1,
    perSecond,
    p50Ms: 1,
    p99Ms: 2,
    errors: 0,
    firstError: null,
    nodeMicros: 1e6 / perSecond,
    clientMicros: 20,
    writtenPerStored: 12,
    flushes: 0.5,
    residentBytes: 2 ** 30,
    machine,
  }
  return { system, version: 'v', durability: 'd', idleShare: 0.05, bound: null, compared: 3, cells: [cell] }
}

function reportOf(turns: readonly Turn[], loadBefore: number): RaceReport {
  const at = { startedAt: 'now', node: '24', processors: 2, memoryBytes: 8e9, loadBefore }
  const plan = { clients: 64, seconds: 5, operations: null, passes: 2, compareEach: 32 }
  return { ...at, ...plan, systems: ['holdfast', 'other'], turns }
}

t.test('the verdict of the race', async (t) => {
  t.equal(median([3, 1, 2]), 2)
  t.equal(median([4, 1, 2, 3]), 2.5)
  const turns = [turn('holdfast', 200), turn('other', 100), turn('other', 300), turn('holdfast', 400)]
  const quiet = pageOf(reportOf(turns, 0))
  t.match(quiet, 'The machine was quiet')
  t.match(quiet, /PUT 4 KiB \| +300 \(200, 400\) \| +200 \(100, 300\) \| +1\.5 \|/, 'medians, passes, ratio')
  const busy = pageOf(reportOf(turns, 50))
  t.match(busy, /No verdict by time.*\n\n- the load was 50\.00 before/)
  t.match(busy, /PUT 4 KiB \| +300 \(200, 400\) \| +200 \(100, 300\) \| +no verdict \|/)
  t.match(busy, /PUT 4 KiB \| +3,750 .*\| +0\.56\d? \|/, 'processor time is compared nevertheless')
  t.strictSame(disquiet(0, [QUIET_CELL]), [])
  t.match(disquiet(0, [{ ...QUIET_CELL, stolenShare: 0.2 }]), [/the host took 20\.0 %/])
  t.match(disquiet(0, [{ ...QUIET_CELL, othersShare: 0.2 }]), [/other processes used 20\.0 %/])
  t.match(disquiet(0, [null]), [/no \/proc/])
})

t.test('large bodies stand beside what the disk takes of them', async (t) => {
  const one = turn('holdfast', 3)
  const cells = one.cells.map((cell) => ({ ...cell, row: 'put-64m', name: 'PUT 64 MiB' }))
  const page = pageOf(reportOf([{ ...one, cells, bound: { bodiesPerSecond: 4, cpuMs: 70 } }], 0))
  t.match(
    page,
    'the disk takes 4 bodies of 64 MiB a second three times, for 70 ms of processor each; PUT 64 MiB reached 75 % of that',
  )
  t.notMatch(pageOf(reportOf([one], 0)), 'the disk takes')
})

t.test('the picture of the race', async (t) => {
  const turns = [turn('holdfast', 200), turn('a<b', 100)]
  const picture = chartOf({ ...reportOf(turns, 50), systems: ['holdfast', 'a<b'] })
  t.match(picture, /^<svg .*<\/svg>\n$/s)
  t.match(picture, '>a&lt;b</text>')
  t.match(picture, 'no verdict by time')
  t.match(picture, /width="520\.0"[^>]*\/>\n<text[^>]*>200</, 'the longest bar')
  t.match(picture, /width="260\.0"[^>]*\/>\n<text[^>]*>100</, 'half of it')
})

t.test('the systems of the race', async (t) => {
  t.match(parseRaceOptions(['--systems', 's3,etcd', '--etcd', '/x/etcd']), {
    systems: ['s3', 'etcd'],
    programs: { etcd: '/x/etcd' },
  })
  t.match(parseRaceOptions(['--against', '.']), { systems: ['holdfast'] }, 'two builds race alone')
  t.throws(
    () => parseRaceOptions(['--systems', 'ceph']),
    /no 'ceph', expected some of holdfast, s3, etcd, minio/,
  )
  const place = { endpoint: 'http://x:1', bucket: 'b', accessKeyId: 'k', secretKey: 's' }
  const { list, keysOf } = s3Dialect(place)
  t.match(
    list?.('4k/1').head,
    /^GET \/b\?list-type=2&max-keys=1000&start-after=4k%2F1 HTTP\/1\.1\r\nhost: x:1\r\n/,
  )
  t.strictSame(keysOf(Buffer.from('<Contents><Key>a/1</Key></Contents><Contents><Key>a/2</Key>')), [
    'a/1',
    'a/2',
  ])
})

t.test('the machine', { skip: process.platform !== 'linux' }, async (t) => {
  const before = sampleMachine('.')
  const use = usedSince(before, '.')
  t.ok(use !== null && use.busySeconds >= 0 && use.stolenSeconds >= 0)
})
