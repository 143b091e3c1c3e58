/**
 * The log of a simulated node: lines of the trace.
 *
 * Rule: an error that no fault explains is a violation; a node that logs one reports a bug.
 */
import type { Logger } from '../../../cluster/base/types.ts'
import { NOTHING_TO_SNAPSHOT } from './sim-machine.ts'
import type { SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

/** These follow from faults that are part of a run: an emptied disk, and a late call that finds one. */
const EXPECTED_ERRORS: readonly string[] = [
  'another data directory is registered under this name',
  NOTHING_TO_SNAPSHOT,
  'disk of the log is full, nothing new is taken',
  'the clock of this node is wrong',
]

/** And these from damage done to the very node. */
const ERRORS_OF_THE_LOST: readonly string[] = ['other nodes refuse this data directory']
/** This from an older disk of another node. */
const PEER_FORGOT = 'peer has lost entries that it acknowledged, they are sent again'
const STATE_QUARANTINED = 'state is not trusted any more'

export function simLogger(world: SimWorld, host: SimHost): Logger {
  const name = host.id
  const line = (level: string) => (fields: object, message: string) => {
    world.scheduler.note(() => `${name} ${level}: ${message} ${textOf(fields)}`)
  }
  const logger: Logger = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: (fields, message) => {
      line('error')(fields, message)
      const isUnreceived =
        host.isLost || host.isDamaged || host.formerLogs.length > 0 || world.setup.hasLeft(name)
      const expected = isUnreceived ? [...EXPECTED_ERRORS, ...ERRORS_OF_THE_LOST] : EXPECTED_ERRORS
      const isOfState = message === STATE_QUARANTINED && (host.isDamaged || host.state.damages > 0)
      const isOfPeer = message === PEER_FORGOT && world.hosts.some(({ formerLogs }) => formerLogs.length > 0)
      const isExpected =
        isOfState || isOfPeer || expected.includes(message) || expected.includes(causeIn(fields))
      if (!isExpected) world.scheduler.violate(`${name} logs '${message}' ${textOf(fields)}`)
    },
    fatal: line('fatal'),
    child: () => logger,
  }
  return logger
}

function causeIn(fields: object): string {
  return 'err' in fields && fields.err instanceof Error ? fields.err.message : ''
}

function textOf(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]: [string, unknown]) =>
      value instanceof Error ? `${name}=${value.stack ?? value.message}` : `${name}=${JSON.stringify(value)}`,
    )
    .join(' ')
}
