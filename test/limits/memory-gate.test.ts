/**
 * Memory that is in use: who is refused at each level, and when a level begins and ends.
 */
import t from 'tap'
import { limitSamples } from '../../src/limits/limit-samples.ts'
import { Limits } from '../../src/limits/limits.ts'
import { type MemoryLevel, MemoryGate, type MemoryUse, pressureOf } from '../../src/limits/memory-gate.ts'
import { TEST_CALLERS } from '../helpers/content-world.ts'

const MIB = 1024 * 1024

function worldOf(running: readonly number[] = [1]) {
  let nowMs = 0
  let use: MemoryUse = { heap: 0, heapMax: 1000 * MIB, external: 0 }
  const levels: MemoryLevel[] = []
  let measured = 0
  const gate = new MemoryGate({
    bytesMax: 100 * MIB,
    measure: () => {
      measured += 1
      return use
    },
    runningByTenant: () => running,
    onLevel: (level) => levels.push(level),
    now: () => nowMs,
  })
  const at = (mib: number): void => {
    use = { heap: 40 * MIB, heapMax: 1000 * MIB, external: (mib - 40) * MIB }
    nowMs += 50
  }
  return { gate, at, levels, measured: () => measured, pass: (ms: number) => void (nowMs += ms) }
}

t.test('MemoryGate', async (t) => {
  t.test('refuses the heavy requests of the busiest first, then all heavy ones, then all', async (t) => {
    const { gate, at } = worldOf([9, 1])
    for (const [mib, heavyBusy, heavyOther, lightBusy, lightOther] of [
      [89, false, false, false, false],
      [90, true, false, false, false],
      [99, true, false, false, false],
      [100, true, true, true, false],
      [109, true, true, true, false],
      [110, true, true, true, true],
    ] as const) {
      at(mib)
      const answers = [
        gate.refuses({ isHeavy: true, running: 9 }),
        gate.refuses({ isHeavy: true, running: 1 }),
        gate.refuses({ isHeavy: false, running: 9 }),
        gate.refuses({ isHeavy: false, running: 1 }),
      ]
      t.strictSame(answers, [heavyBusy, heavyOther, lightBusy, lightOther], `${mib} of 100 MiB`)
    }
  })

  t.test('takes no tenant for the busiest when nothing runs', async (t) => {
    const { gate, at } = worldOf([0, 0])
    at(95)
    t.notOk(gate.refuses({ isHeavy: true, running: 0 }))
    at(100)
    t.notOk(gate.refuses({ isHeavy: false, running: 0 }))
    t.ok(gate.refuses({ isHeavy: true, running: 0 }))
  })

  t.test('ends a level only well below its beginning, and reports each change once', async (t) => {
    const { gate, at, levels } = worldOf()
    for (const mib of [100, 96, 100, 94, 86, 90, 84]) {
      at(mib)
      gate.level()
    }
    t.strictSame(levels, ['short', 'scarce', 'enough'])
  })

  t.test('measures at most once in 50 ms', async (t) => {
    const { gate, at, measured, pass } = worldOf()
    at(50)
    for (let n = 0; n < 10; n++) gate.level()
    t.equal(measured(), 1)
    pass(49)
    gate.level()
    t.equal(measured(), 1)
    pass(1)
    gate.level()
    t.equal(measured(), 2)
  })
})

t.test('pressureOf counts heap and buffers together, and the heap against its own end', async (t) => {
  t.equal(pressureOf({ heap: 30, heapMax: 1000, external: 20 }, 100), 0.5)
  t.equal(pressureOf({ heap: 95, heapMax: 100, external: 0 }, 1000), 1)
})

t.test('Limits.admit', async (t) => {
  const worldWith = (shareUsed: number) => {
    const measure = (): MemoryUse => ({ heap: 0, heapMax: 1000, external: 100 * shareUsed })
    const memory = { bytesMax: 100, measure, onLevel: () => undefined }
    const limits = new Limits({
      settings: TEST_CALLERS,
      state: { get: () => undefined },
      memory,
      now: () => 0,
    })
    const admit = (asked: { isUpload: boolean; isListing?: boolean }) =>
      limits.admit(
        { tenantId: 'acme', accessKeyId: 'AK', address: '::1' },
        { ...asked, client: new AbortController() },
      )
    const sample = (name: string) =>
      limitSamples(limits, { isPerTenant: false, nowMs: 0 }).filter((one) => one.name === name)
    return { admit, sample }
  }

  await t.test(
    'slow_down: refuses uploads and listings while memory is short, and counts them',
    async (t) => {
      const { admit, sample } = worldWith(1.05)
      const refusal = { code: 'slow_down', retryAfterMs: 1000 }
      t.throws(() => admit({ isUpload: true }), refusal)
      t.throws(() => admit({ isUpload: false, isListing: true }), refusal)
      t.doesNotThrow(() => admit({ isUpload: false }))
      t.match(sample('holdfast_limits_refused_total'), [
        { value: 2, labels: { limit: 'memory', scope: 'node' } },
      ])
      t.match(sample('holdfast_limits_memory_level'), [{ value: 2 }])
      t.match(sample('holdfast_limits_memory_max_bytes'), [{ value: 100 }])
    },
  )

  await t.test('slow_down: refuses everything while memory is spent', async (t) => {
    t.throws(() => worldWith(1.1).admit({ isUpload: false }), { code: 'slow_down' })
  })

  await t.test('takes everything while there is enough', async (t) => {
    t.doesNotThrow(() => worldWith(0.89).admit({ isUpload: true }))
  })
})
