/** The old generation may grow to three times what the last collection left, whatever V8 has measured: its own words, in a process of their own. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const MODULE = new URL('../../src/base/heap-growth.ts', import.meta.url).href
/** Tens of megabytes that stay. */
const PROGRAM = `
  const { spaceOutCollections } = await import(${JSON.stringify(MODULE)})
  spaceOutCollections()
  globalThis.kept = Array.from({ length: 300_000 }, (_, n) => ({ n, text: 'text ' + n }))
  gc()
`
const LIMIT = /HeapController\] Limit: old size: (\d+) KB, new limit: (\d+) KB/g
const YOUNG_KB = 8 * 1024

t.test('the next collection of the old generation comes at three times its size', async (t) => {
  const flags = ['--expose-gc', '--trace-gc-verbose', `--max-semi-space-size=${YOUNG_KB / 1024}`]
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', PROGRAM], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
  })
  t.equal(stderr, '')
  const [, size, limit] = [...stdout.matchAll(LIMIT)].at(-1) ?? []
  t.ok(Number(size) > 10_000, 'the heap is larger than the least by which V8 lets it grow')
  t.equal(Math.round((100 * (Number(limit) - YOUNG_KB)) / Number(size)), 300)
})
