/**
 * The profile without a cluster: the table of stages is current, the sums add up, a real process with a worker is sampled.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import {
  type CpuProfile,
  type HeapProfile,
  ofAllocations,
  sumsOf,
  total,
} from '../../scripts/profile/cpu-profile.ts'
import { InspectedNode, inspectorUrl } from '../../scripts/profile/inspected-node.ts'
import { parseProfileOptions } from '../../scripts/profile/options.ts'
import { pageOf } from '../../scripts/profile/page.ts'
import { OWN_PATHS, ownPathOf, stageOfOwn } from '../../scripts/profile/stages.ts'
import { grownSince, sampleThreads } from '../../scripts/profile/threads.ts'
import { until } from '../helpers/async.ts'
import { withoutLoader } from '../helpers/without-loader.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

t.test('the table of stages', async (t) => {
  for (const path of Object.keys(OWN_PATHS)) {
    const isThere =
      existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory() === path.endsWith('/')
    t.ok(isThere, `${path} of scripts/profile/stages.ts exists, a folder with a slash at its end`)
  }
  const sources = ['src', 'cluster'].flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && path.includes('/'))
      .map((path) => `${room}/${path}`),
  )
  t.strictSame(
    sources.filter((path) => stageOfOwn(path) === null),
    [],
    'every file of every room has a stage',
  )
  t.equal(stageOfOwn('src/access/authorize.ts'), 'authorize', 'a file counts before its folder')
  t.equal(ownPathOf('file:///a/dist/src/main.js', '/a/'), 'src/main.ts', 'compiled code is its source')
  t.equal(ownPathOf('file:///a/node_modules/x.js', '/a/'), null)
  t.equal(ownPathOf('file:///ab/src/main.ts', '/a'), null, 'another folder with the same beginning')
  t.equal(ownPathOf('file:///a/src/main.ts', '/a'), 'src/main.ts', 'a folder may be named without its slash')
})

t.test('the sums of a profile', async (t) => {
  const frame = (functionName: string, url: string) => ({ functionName, url })
  const profile: CpuProfile = {
    nodes: [
      { id: 1, callFrame: frame('(root)', ''), children: [2, 4, 6, 7] },
      { id: 2, callFrame: frame('seal', 'file:///a/src/content/x.ts'), children: [3] },
      { id: 3, callFrame: frame('update', 'node:internal/crypto/cipher') },
      { id: 4, callFrame: frame('(idle)', '') },
      { id: 6, callFrame: frame('(garbage collector)', '') },
      { id: 7, callFrame: frame('odd', 'file:///a/src/nowhere.ts') },
    ],
    samples: [2, 3, 4, 6, 7],
    timeDeltas: [0, 10, 20, 1000, 5, 7],
  }
  const { byStage, byFunction } = sumsOf(profile, '/a/')
  t.strictSame(Object.fromEntries(byStage), {
    'digest, cut, seal, open': 30,
    'garbage collection': 5,
    'no stage: src/nowhere.ts': 7,
  })
  t.equal(byFunction.get('seal src/content/x.ts'), 10)
  t.equal(
    byFunction.get('update node:internal/crypto/cipher < seal src/content/x.ts'),
    20,
    'and who called it',
  )
  t.equal(total(byStage), total(byFunction), 'nothing is counted twice')
})

t.test('the sums of allocations', async (t) => {
  const at = (functionName: string, url: string, selfSize: number, children: HeapProfile['head'][] = []) => {
    return { callFrame: { functionName, url }, selfSize, children }
  }
  const inner = at('update', 'node:internal/crypto/cipher', 2000)
  const head = at('(root)', '', 0, [at('seal', 'file:///a/src/content/x.ts', 1000, [inner])])
  const { byStage, byFunction } = sumsOf(ofAllocations({ head }), '/a')
  t.strictSame(Object.fromEntries(byStage), { 'digest, cut, seal, open': 3000 })
  t.equal(byFunction.get('update node:internal/crypto/cipher < seal src/content/x.ts'), 2000)
})

t.test('a real process', { skip: process.platform !== 'linux' }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-profile-test-'))
  const logFile = join(folder, 'log')
  const busy =
    'function turn() { const end = performance.now() + 5; while (performance.now() < end); setImmediate(turn) } turn();'
  const program = `new (require("node:worker_threads").Worker)(${JSON.stringify(busy)}, { eval: true, name: "wal" }); ${busy}`
  const child = spawn(...withoutLoader(process.execPath, '--inspect=127.0.0.1:0', '-e', program), {
    stdio: ['ignore', 'ignore', openSync(logFile, 'a')],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  await until('the inspector listens', () => readFileSync(logFile, 'utf8').includes('Debugger listening'))
  const node = await InspectedNode.open(inspectorUrl(logFile))
  const pid = child.pid ?? 0
  const before = sampleThreads(pid)
  await until('both threads are sampled', async () => {
    await node.start()
    await until('the process has worked', () => (grownSince(before, pid).get('wal') ?? 0) > 30_000)
    const profiles = await node.stop()
    const names = profiles
      .filter(({ profile }) => total(sumsOf(profile, ROOT).byStage) > 0)
      .map(({ thread }) => thread)
    return names.includes('main') && names.includes('wal')
  })
  const texts = await node.evaluate('String(process.pid)')
  t.strictSame(
    texts.map(({ thread, text }) => `${thread} ${text}`),
    [`main ${pid}`, `wal ${pid}`],
    'an expression is evaluated on each thread',
  )
  await node.start('allocations')
  await node.evaluate('Array.from({ length: 100_000 }, () => ({}))')
  const allocated = await node.stop('allocations')
  for (const { thread, profile } of allocated)
    t.ok(
      total(sumsOf(profile, ROOT).byStage) > 1_000_000,
      `${thread} has allocated, although all was collected`,
    )
  await t.rejects(node.evaluate('noSuchName'), /main: .*noSuchName/s)
  t.ok((grownSince(before, pid).get('main') ?? 0) > 0, 'the kernel says the time of the same threads')
  node.close()
})

t.test('the page and the options of a profile', async (t) => {
  const stages = { main: { audit: 30, 'garbage collection': 20 } }
  const node = { role: 'leader n1, asked', threads: { main: 50, pool: 10 }, stages, functions: [] }
  const load = {
    operation: 'PUT 4 KiB',
    clients: 1,
    at: 'leader',
    operations: 9,
    seconds: 1,
    errors: 0,
    firstError: null,
  } as const
  const about = {
    of: 'time',
    startedAt: 'now',
    version: 'v',
    node: '24',
    processors: 2,
    loadBefore: 0,
  } as const
  const page = pageOf({ ...about, loads: [{ ...load, nodes: [node, { ...node, role: 'follower n2' }] }] })
  t.match(page, /\| audit +\| +30 \| +30 \| +60 \| +50\.0 \|/)
  t.match(page, /\| thread: pool +\| +10 \| +10 \| +20 \| +16\.7 \|/)
  t.match(page, /\| sum +\| +60 \| +60 \| +120 \| 100\.0 \|/)
  t.match(parseProfileOptions(['get-4k', '--clients', '8']), {
    rows: ['get-4k'],
    clients: [8],
    places: ['leader', 'follower'],
  })
  t.throws(() => parseProfileOptions(['--of', 'bytes']), /no 'bytes', expected some of time, allocations/)
  t.throws(() => parseProfileOptions(['put-5k']), /no 'put-5k', expected some of put-1k/)
  t.throws(() => parseProfileOptions(['--at', 'n1']), /no 'n1', expected some of leader, follower/)
})
