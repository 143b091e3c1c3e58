/**
 * What a StateMachine holds after a power cut during an install.
 *
 * Owns: one cut of the power after each durable step of an install. Knows nothing of: rows.
 * Rule: the old state or the new one, never a third, and either one keeps working.
 */
import type { Test } from 'tap'
import { batchOf, opened, type StateMachinePlace, sumOf, textOf } from './state-machine.ts'
import { blocksOf, filledSource, hex, Wire } from './state-sources.ts'

type MakePlace = (t: Test) => Promise<StateMachinePlace>

export function stateCrashContract(t: Test, makePlace: MakePlace): void {
  t.test('crash', (t) => crashContract(t, makePlace))
}

async function crashContract(t: Test, makePlace: MakePlace): Promise<void> {
  t.test(
    'at any durable step leaves the old state or the new one, and an install that continues',
    async (t) => {
      const source = await filledSource(t, makePlace)
      const cut = await source.machine.snapshot()
      const count = (await blocksOf(cut)).length
      for (const isFaulty of [false, true]) {
        const place = await makePlace(t)
        const first = await opened(t, place)
        await first.apply(batchOf(2, [place.command(0)]))
        const sumBefore = sumOf(first)
        if (isFaulty) await first.quarantine('a test says so')
        await first.close()
        const cuts: { step: string; left: StateMachinePlace }[] = []
        const machine = place.machine({
          onInstallStep: (step) => cuts.push({ step, left: place.cut() }),
        })
        t.teardown(() => machine.close())
        await machine.open()
        await machine.install(cut)
        t.ok(cuts.length > count, `${cuts.length} steps`)
        let installed = 0
        for (const { step, left } of cuts) {
          const after = left.machine()
          const { record, fault } = await after.open()
          const isNew = textOf(record) === 'record 1'
          if (isNew) installed += 1
          else if (installed > 0) t.fail(`after "${step}" the old state is back`)
          if (!isNew)
            t.strictSame([textOf(record), fault], isFaulty ? [null, 'a test says so'] : ['record 2', null])
          if (!isFaulty || isNew) {
            t.equal(sumOf(after), isNew ? hex(cut.checksum) : sumBefore, `after "${step}"`)
            t.equal(await after.verify(), null)
          }
          const wire = new Wire(cut)
          t.equal(textOf(await after.install(wire)), 'record 1')
          t.equal(sumOf(after), hex(cut.checksum))
          await after.close()
          const { fault: still } = await reopened(t, left)
          t.equal(still, null)
        }
        t.ok(
          installed > 0 && installed < cuts.length,
          `${installed} of ${cuts.length} steps show the new state`,
        )
      }
      await cut.release()
    },
  )
}

async function reopened(t: Test, place: StateMachinePlace): Promise<{ readonly fault: string | null }> {
  const machine = place.machine()
  t.teardown(() => machine.close())
  return await machine.open()
}
