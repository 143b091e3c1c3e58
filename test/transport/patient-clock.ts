/** Real time, but timers of ten seconds and more fire when the test says so. */
import { SystemClock } from '../../cluster/base/system-clock.ts'
import type { Timer } from '../../cluster/base/clock.ts'

export class PatientClock extends SystemClock {
  #due: (() => void)[] = []

  override after(ms: number, callback: () => void): Timer {
    if (ms < 10_000) return super.after(ms, callback)
    this.#due.push(callback)
    return { cancel: () => void (this.#due = this.#due.filter((one) => one !== callback)) }
  }

  /** Fires these timers. */
  look(): void {
    const due = this.#due
    this.#due = []
    for (const callback of due) callback()
  }
}
