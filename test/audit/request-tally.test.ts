import * as fc from 'fast-check'
import t from 'tap'
import { RequestTally } from '../../src/audit/request-tally.ts'
import type { AuditRow } from '../../src/state-machine/audit/records.ts'
import { auditRow } from '../helpers/audit-disk.ts'

const BOUNDS = { ownRows: 3, ownRowsOfAll: 20, groupsMax: 8, windowMs: 60_000 }

function ended(tally: RequestTally, now: number): readonly AuditRow[] {
  const rows: AuditRow[] = []
  for (let row = tally.takeEnded(now); row !== null; row = tally.takeEnded(now)) rows.push(row)
  return rows
}

t.test('RequestTally', async (t) => {
  t.test('keeps the first of a window and counts the others in one row', async (t) => {
    const tally = new RequestTally(BOUNDS)
    const own: string[] = []
    for (let n = 0; n < 4_815; n++) {
      const row = auditRow(`r${n}`, { time: 1_000 + n, bytesIn: 2, code: 'unauthorized', status: 401 })
      if (tally.take(row, { by: '192.0.2.1', mayBeOwn: true, now: n })) own.push(row.requestId)
    }
    t.strictSame(own, ['r0', 'r1', 'r2'])
    t.strictSame(ended(tally, 59_999), [], 'the window has not ended')
    const [row, ...more] = ended(tally, 60_000)
    t.strictSame(more, [])
    t.match(row, {
      requestId: 'r3',
      time: 5_814,
      bytesIn: 9_624,
      repeated: { count: 4_812, firstTime: 1_003, lastTime: 5_814, from: '192.0.2.1' },
    })
    t.equal(tally.groups, 0)
  })

  t.test('counts by caller, operation, code and status', async (t) => {
    const tally = new RequestTally(BOUNDS)
    const unlike: readonly (readonly [string, Partial<AuditRow>])[] = [
      ['a', {}],
      ['b', {}],
      ['a', { operation: 'healthz' }],
      ['a', { code: 'token_invalid' }],
      ['a', { status: 503 }],
    ]
    for (const [by, more] of unlike)
      for (let n = 0; n < 5; n++) tally.take(auditRow('r', more), { by, mayBeOwn: false, now: 0 })
    t.strictSame(
      ended(tally, 60_000).map(({ repeated }) => repeated?.count),
      [5, 5, 5, 5, 5],
    )
  })

  t.test(
    'forgets no request and holds a fixed number of groups, for any callers and any times of sweeping',
    async () => {
      const request = fc.record({
        by: fc.integer({ min: 0, max: 200 }),
        code: fc.constantFrom(null, 'unauthorized', 'token_invalid'),
        mayBeOwn: fc.boolean(),
        wait: fc.integer({ min: 0, max: 20_000 }),
        isSwept: fc.boolean(),
      })
      fc.assert(
        fc.property(fc.array(request, { maxLength: 300 }), (requests) => {
          const tally = new RequestTally(BOUNDS)
          const codes = 3
          let [now, own, counted] = [0, 0, 0]
          const sweep = (at: number): void => {
            for (const { repeated } of ended(tally, at)) counted += repeated?.count ?? Number.NaN
          }
          for (const { by, code, mayBeOwn, wait, isSwept } of requests) {
            now += wait
            if (tally.take(auditRow('r', { code }), { by: `${by}`, mayBeOwn, now })) own++
            if (isSwept) sweep(now)
            if (tally.groups > BOUNDS.groupsMax + codes) return false
          }
          sweep(Infinity)
          return own + counted === requests.length
        }),
      )
    },
  )

  t.test('bounds the own rows of all callers together', async (t) => {
    const tally = new RequestTally({ ...BOUNDS, groupsMax: 1_000 })
    let own = 0
    for (let n = 0; n < 500; n++) if (tally.take(auditRow('r'), { by: `${n}`, mayBeOwn: true, now: 0 })) own++
    t.equal(own, BOUNDS.ownRowsOfAll)
    t.ok(tally.take(auditRow('r'), { by: 'x', mayBeOwn: true, now: 60_000 }), 'the next window has its own')
  })

  t.test('names no caller of requests beyond its groups', async (t) => {
    const tally = new RequestTally(BOUNDS)
    for (let n = 0; n < 100; n++) tally.take(auditRow('r'), { by: `${n}`, mayBeOwn: true, now: 0 })
    const shared = ended(tally, 60_000).filter(({ repeated }) => repeated?.from === null)
    t.match(shared, [{ repeated: { count: 92, from: null } }])
  })
})
