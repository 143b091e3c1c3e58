/**
 * What a disturbed wire lets through, on real hosts; and where these cannot be made, the reason.
 */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { withoutLoader } from '../../helpers/without-loader.ts'
import { inPrivate, obstacle } from './private-host.ts'
import { startRun } from './start-run.ts'
import { NEMESIS_NAMES } from './strikes.ts'

const INSIDE = fileURLToPath(new URL('wires-inside.ts', import.meta.url))
const execute = promisify(execFile)
const obstructed = obstacle()
const skip = obstructed === null ? false : `hosts cannot be made here: ${obstructed}`

interface Report extends Record<'nothing' | 'cut' | 'oneWay' | 'loss', Readonly<Record<string, number>>> {
  readonly delayedMs: number
  readonly healedMs: number
}

const ALL = { '1>2': 100, '1>3': 100, '2>1': 100, '2>3': 100, '3>1': 100, '3>2': 100 }

/** What a machine shows of networks: its own, and nothing of a run. */
const outside = () => [Object.keys(networkInterfaces()), readdirSync('/sys/class/net'), readdirSync('/run')]

t.test('the wires between hosts', { skip }, async (t) => {
  const before = outside()
  const [program, args] = withoutLoader(...inPrivate([process.execPath, INSIDE]))
  const report = JSON.parse((await execute(program, args, { timeout: 1_800_000 })).stdout) as Report

  await t.test('carry everything, before a fault and after it', async (t) => {
    // Each fault was preceded and followed by a mark over every way, or there would be no report.
    t.same(report.nothing, ALL)
  })
  await t.test('are cut between two hosts and no others', async (t) => {
    t.same(report.cut, { ...ALL, '1>2': 0, '2>1': 0 })
  })
  await t.test('are cut one way and not the other', async (t) => {
    t.same(report.oneWay, { ...ALL, '1>2': 0 })
  })
  await t.test('lose about the requested share', async (t) => {
    const { '2>3': there = 0, '3>2': back = 0, ...others } = report.loss
    t.match(others, { '1>2': 100, '2>1': 100, '1>3': 100, '3>1': 100 })
    // Of 100 at 50 %: outside of this once in 10 ** 12.
    for (const arrived of [there, back]) t.ok(arrived > 14 && arrived < 86, `${arrived} of 100`)
  })
  await t.test('are slow by twice the delay, there and back', async (t) => {
    t.ok(report.delayedMs >= 200, `${report.delayedMs} ms`)
    t.ok(report.healedMs > 0, 'and whole again when it is over')
  })
  await t.test('leave nothing behind on the machine', async (t) => t.same(outside(), before))
})

t.test('a run', { skip }, async (t) => {
  const options = {
    plan: 'faults' as const,
    nodes: 3,
    seconds: 60,
    nemeses: NEMESIS_NAMES,
    holdSeconds: null,
    seed: 1,
    jsonFile: null,
    logDir: null,
  }
  for (const [how, name] of [
    ['stop', 'that is stopped'],
    ['kill', 'whose starter is killed'],
  ] as const)
    await t.test(`${name} ends with all that belongs to it`, async (t) => {
      const before = outside()
      const run = startRun(options, 'pipe')
      t.teardown(() => run.stop())
      if (run.output === null) throw new Error('the output is piped')
      const { output } = run
      await once(output, 'data')
      // Ends when no process can write to it any more: process 1 is gone, and with it the kernel has ended the others.
      const closed = once(output.resume(), 'end')
      run[how]()
      await Promise.all([closed, run.ended])
      t.same(outside(), before)
    })
})

t.test('obstacle', async (t) => {
  await t.test('is one sentence where the programs are missing', async (t) => {
    t.match(obstacle('/nowhere'), /^unshare cannot be run: .*ENOENT/)
  })
})
