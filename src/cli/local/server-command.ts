/**
 * `holdfast server`: one node until a signal or a failure ends it.
 *
 * Owns: signals and the shutdown. SIGTERM and SIGINT stop in order (hand over, finish, flush). A second signal changes nothing:
 * an incomplete shutdown is worse than a slow one, and a supervisor can send SIGKILL. SIGHUP reloads and never stops a node.
 */
import { spaceOutCollections } from '../../base/heap-growth.ts'
import { loadConfig } from '../../config/load-config.ts'
import { startService } from '../../service/service.ts'
import { createLogger } from '../../telemetry/logger.ts'
import type { NodeIdentity } from '../../../cluster/index.ts'
import { EXIT, reportError } from '../base/exit.ts'
import { printLine } from '../base/printing.ts'
import { reload } from './reload.ts'
import { type ServiceManager, serviceManagerOf } from './notify-systemd.ts'

/** After this the process exits even if something is still open. [decisions 15: SIGTERM] */
const STOP_MS_MAX = 30_000

function stopRequested(signals: readonly NodeJS.Signals[]): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of signals) process.on(signal, () => resolve(signal))
  })
}

/** One reload after the other. Before `isServing` there is nothing to reload: everything is being read. */
function reloadAtHangup(manager: ServiceManager, isServing: () => boolean, work: () => Promise<void>): void {
  let reloaded = Promise.resolve()
  process.on('SIGHUP', () => {
    if (!isServing()) return
    reloaded = reloaded.then(async () => {
      manager.reloading()
      await work()
      manager.ready(SERVING)
    })
  })
}

export interface ServerOptions {
  /** Waits on an empty data directory until a running cluster adds this node. */
  readonly isJoining?: boolean
  /** Called when the node listens; if it rejects, the node stops with that error. */
  readonly started?: () => Promise<void>
  /** For a trial in a terminal: it ends when the terminal is closed. */
  readonly endsWithTerminal?: boolean
}

const SERVING = 'serving; holdfast doctor and /readyz say how it is'

/** Resolves with the exit code when the node has ended. */
export async function runServer(
  configFile: string,
  { isJoining = false, started = async () => undefined, endsWithTerminal = false }: ServerOptions = {},
): Promise<number> {
  spaceOutCollections()
  const config = loadConfig(configFile, process.env)
  const logger = createLogger({ ...config.logging, nodeId: config.node.id })
  const manager = serviceManagerOf({
    env: process.env,
    pid: process.pid,
    monotonicMicros: () => process.hrtime.bigint() / 1000n,
    warn: (err) => logger.warn({ err }, 'service manager cannot be notified'),
  })
  const stop = stopRequested(endsWithTerminal ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : ['SIGTERM', 'SIGINT'])
  let isServing = false
  if (!endsWithTerminal)
    reloadAtHangup(
      manager,
      () => isServing,
      () => reload(configFile, logger),
    )
  const ending = new AbortController()
  void stop.then((signal) => ending.abort(new StopRequested(signal)))
  const service = await startService(config, logger, { isJoining, ending: ending.signal }).catch(
    (cause: unknown) => {
      if (cause instanceof StopRequested) return null
      throw cause
    },
  )
  if (service === null) {
    logger.info({}, 'stopped before it had started')
    return EXIT.done
  }
  isServing = true
  manager.ready(SERVING)
  const scheme = config.dataTls === null ? 'http' : 'https'
  void service.ready.then(() => logger.info({}, `ready, data API at ${scheme}://${service.dataAddress}`))
  if (service.waiting !== null) printLine(waitingText(service.waiting))
  const why = await Promise.race([stop, service.failed, failureOf(started())])
  if (why instanceof Error) logger.fatal({ err: why }, 'node failed')
  else logger.info({ signal: why }, 'stopping')
  const timer = setTimeout(() => {
    logger.fatal({ limitMs: STOP_MS_MAX }, 'stop takes too long')
    process.exit(EXIT.failed)
  }, STOP_MS_MAX)
  timer.unref()
  isServing = false
  manager.stopping()
  await service.stop()
  await manager.close()
  logger.info({}, 'stopped')
  return why instanceof Error ? reportError(why, false) : EXIT.done
}

/** Ends a start that waits. */
class StopRequested extends Error {}

/** Resolves with the error, or never. */
const failureOf = (work: Promise<void>): Promise<Error> =>
  new Promise((resolve) => {
    work.catch(resolve)
  })

/** The text that an operator compares with the dry run of the join, so that no other machine is added under this name. */
export function waitingText({ nodeId, incarnation, peerAddress, fingerprint }: NodeIdentity): string {
  const compared = fingerprint === null ? '' : ` --fingerprint ${fingerprint}`
  return [
    `${nodeId} waits to be added to the cluster. Run this with an owner token:`,
    `  holdfast cluster join ${nodeId} --peer ${peerAddress}${compared} --reason '…' --wait`,
    `  incarnation  ${incarnation}`,
    `  certificate  ${fingerprint ?? 'none: nodes communicate without TLS'}`,
  ].join('\n')
}
