import t from 'tap'
import { isGood, reportOf, reportText } from './chaos-report.ts'
import type { Verdict } from './final-checks.ts'
import type { Struck } from './outages.ts'

const OPTIONS = {
  plan: 'faults',
  nodes: 3,
  seconds: 60,
  nemeses: ['kill'],
  holdSeconds: null,
  seed: 7,
  jsonFile: null,
  logDir: null,
} as const
const KILL: Struck = {
  nemesis: 'kill',
  what: 'kill n1',
  at: 100,
  healedAt: 900,
  readyAt: 1000,
  excused: [],
}

function report(...verdicts: Verdict[]) {
  const done = { type: 'done' } as const
  const put = { type: 'put', key: 'a', value: '1' } as const
  return reportOf({
    options: OPTIONS,
    struck: [KILL],
    registers: {
      operations: [
        { client: 'x', input: put, call: 0, answer: { at: 90, output: done } },
        { client: 'x', input: put, call: 100, answer: null },
        // These two wrote nothing.
        {
          client: 'x',
          input: { type: 'get', key: 'a' },
          call: 300,
          answer: { at: 310, output: { type: 'value', value: '1' } },
        },
        {
          client: 'x',
          input: { type: 'cas', key: 'a', from: '0', to: '2' },
          call: 400,
          answer: { at: 410, output: { type: 'mismatch' } },
        },
      ],
      failures: new Map([['no_leader', 2]]),
    },
    ledger: {
      done: new Map([['put', 3]]),
      failures: new Map([
        ['no_leader', 1],
        ['ECONNREFUSED', 4],
      ]),
      writtenAt: [50, 700, 1100],
    },
    verdicts,
  })
}

t.test('the report of a run', async (t) => {
  await t.test('counts requests, and failures of all clients by code', async (t) => {
    const { requests, failures } = report()
    t.strictSame(requests, { registers: 4, 'registers, outcome unknown': 1, put: 3 })
    t.strictSame(failures, { ECONNREFUSED: 4, no_leader: 3 })
  })

  await t.test('reports the longest time without a write of any client', async (t) => {
    t.strictSame(report().nemeses, [{ nemesis: 'kill', strikes: 1, withoutWritesMs: 610 }])
  })

  await t.test('passes when every claim was kept, and otherwise shows the violations', async (t) => {
    const kept = { claim: 'nothing is lost', faults: [] }
    const broken = { claim: 'nothing is wrong', faults: ['a is b'] }
    t.equal(isGood(report(kept)), true)
    t.equal(isGood(report(kept, broken)), false)
    t.match(
      reportText(report(kept, broken)),
      /^kept: nothing is lost\nBROKEN: nothing is wrong\n {2}a is b$/m,
    )
  })
})
