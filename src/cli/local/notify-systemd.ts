/**
 * Tells systemd what a node does: ready, reloading, stopping, alive. [sd_notify(3)]
 *
 * Owns: the messages and their order. Knows nothing of: what being ready means.
 * Rules: messages go through `systemd-notify`, because Node.js cannot send a datagram to a Unix socket (docs/adr/0077-the-package.md); one at a
 * time, so that they arrive in order; a message that cannot be sent never stops a node. Signs of life leave by the event loop that serves
 * requests: when it stands still, they stop.
 */
import { execFile } from 'node:child_process'

type Environment = Readonly<Record<string, string | undefined>>

const PROGRAM = 'systemd-notify'
const SEND_MS_MAX = 10_000
/** Of the time after which systemd ends a silent service. */
const SIGNS_A_PERIOD = 3

export interface ServiceManager {
  /** `status`: what `systemctl status` shows. Signs of life begin with the first call. */
  ready(status: string): void
  reloading(): void
  stopping(): void
  /** Resolves when everything was sent. */
  close(): Promise<void>
}

interface Surroundings {
  readonly env: Environment
  readonly pid: number
  /** CLOCK_MONOTONIC in microseconds. */
  readonly monotonicMicros: () => bigint
  readonly warn: (error: Error) => void
}

const NO_MANAGER: ServiceManager = {
  ready: () => undefined,
  reloading: () => undefined,
  stopping: () => undefined,
  close: async () => undefined,
}

/** The manager that started this process; without one nothing is sent. */
export function serviceManagerOf(surroundings: Surroundings): ServiceManager {
  const { env, monotonicMicros } = surroundings
  if (!env['NOTIFY_SOCKET']) return NO_MANAGER
  const queue = new Messages(surroundings)
  const everyMs = signEveryMs(surroundings)
  let timer: NodeJS.Timeout | null = null
  return {
    ready(status) {
      queue.send(['READY=1', `STATUS=${status}`])
      if (everyMs !== null) timer ??= setInterval(() => queue.sendUnlessBusy(['WATCHDOG=1']), everyMs).unref()
    },
    reloading: () => queue.send(['RELOADING=1', `MONOTONIC_USEC=${monotonicMicros()}`]),
    stopping: () => queue.send(['STOPPING=1', 'STATUS=stopping']),
    async close() {
      if (timer !== null) clearInterval(timer)
      await queue.sent
    },
  }
}

/** Null: the unit has no WatchdogSec, or it is meant for another process. */
export function signEveryMs({ env, pid }: Pick<Surroundings, 'env' | 'pid'>): number | null {
  const micros = Number(env['WATCHDOG_USEC'] ?? '')
  const meant = env['WATCHDOG_PID'] ?? String(pid)
  if (!Number.isSafeInteger(micros) || micros <= 0 || meant !== String(pid)) return null
  return Math.max(1, Math.floor(micros / 1000 / SIGNS_A_PERIOD))
}

class Messages {
  readonly #surroundings: Surroundings
  #waiting = 0
  #hasFailed = false
  sent: Promise<void> = Promise.resolve()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /** At most a few are ever under way: a start, a stop, and one for each reload. */
  send(lines: readonly string[]): void {
    this.#waiting++
    this.sent = this.sent.then(() => this.#sent(lines))
  }

  sendUnlessBusy(lines: readonly string[]): void {
    if (this.#waiting === 0) this.send(lines)
  }

  /** Never rejects; the first failure is reported. */
  #sent(lines: readonly string[]): Promise<void> {
    const { env, warn } = this.#surroundings
    return new Promise((resolve) => {
      execFile(PROGRAM, [...lines], { env: { ...env }, timeout: SEND_MS_MAX }, (error) => {
        this.#waiting--
        if (error !== null && !this.#hasFailed) {
          this.#hasFailed = true
          warn(error)
        }
        resolve()
      })
    })
  }
}
