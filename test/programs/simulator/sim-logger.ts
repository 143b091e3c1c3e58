/**
 * What a simulated node logs: lines of the trace.
 *
 * Rule: an error that no fault explains is a violation; a node that logs one says that it met a bug.
 */
import type { Logger } from '../../../cluster/base/types.ts'
import { NOTHING_TO_SNAPSHOT } from './sim-machine.ts'
import type { SimSeat } from './sim-seat.ts'
import type { SimWorld } from './sim-world.ts'

/** These follow from faults that are part of a run: an emptied disk, and a late call that finds one. */
const EXPECTED_ERRORS: readonly string[] = [
  'another data directory is registered under this name',
  NOTHING_TO_SNAPSHOT,
  'disk of the log is full, nothing new is taken',
  'the clock of this node is wrong',
]

/** And these from damage done to the very node. */
const ERRORS_OF_THE_LOST: readonly string[] = ['other nodes do not hear this data directory']
/** This from an older disk of another node. */
const PEER_FORGOT = 'peer has lost entries that it acknowledged, they are sent again'
const STATE_DISTRUSTED = 'state is not trusted any more'

export function simLogger(world: SimWorld, seat: SimSeat): Logger {
  const name = seat.id
  const line = (level: string) => (fields: object, message: string) => {
    world.stage.note(() => `${name} ${level}: ${message} ${textOf(fields)}`)
  }
  const logger: Logger = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: (fields, message) => {
      line('error')(fields, message)
      const isUnheard =
        seat.isLost || seat.isDamaged || seat.formerLogs.length > 0 || world.subject.hasLeft(name)
      const expected = isUnheard ? [...EXPECTED_ERRORS, ...ERRORS_OF_THE_LOST] : EXPECTED_ERRORS
      const isOfState = message === STATE_DISTRUSTED && (seat.isDamaged || seat.state.damages > 0)
      const isOfPeer = message === PEER_FORGOT && world.seats.some(({ formerLogs }) => formerLogs.length > 0)
      const isExpected =
        isOfState || isOfPeer || expected.includes(message) || expected.includes(causeIn(fields))
      if (!isExpected) world.stage.violate(`${name} logs '${message}' ${textOf(fields)}`)
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
