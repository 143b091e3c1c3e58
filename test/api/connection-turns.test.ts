/** Thousands of requests in one turn of the event loop: how many of them begin before anything else has its turn. */
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { STARTS_A_TURN_MAX, inTurns } from '../../src/api/connection-turns.ts'

const REQUESTS = 3000

/** A request of a connection of its own. */
function requestOf(authorization: string) {
  const request = new IncomingMessage(new Socket())
  request.headers.authorization = authorization
  return { request, response: new ServerResponse(request) }
}

/** Resolves after one turn of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('requests of 3,000 connections in one turn', async (t) => {
  t.test('begin a few in each turn, so that heartbeats leave between them', async (t) => {
    let started = 0
    const listener = inTurns(() => void (started += 1))
    for (let n = 0; n < REQUESTS; n += 1) {
      const { request, response } = requestOf('Bearer flood')
      listener(request, response)
    }
    t.equal(started, STARTS_A_TURN_MAX)
    for (let turns = 2; started < REQUESTS; turns += 1) {
      await turn()
      t.ok(started <= turns * STARTS_A_TURN_MAX, `${started} after ${turns} turns`)
    }
  })

  t.test('let a caller with another credential begin in the next turn', async (t) => {
    const served: (string | undefined)[] = []
    const listener = inTurns(({ headers }) => void served.push(headers.authorization))
    for (const who of [...Array<string>(REQUESTS).fill('Bearer flood'), 'Bearer victim']) {
      const { request, response } = requestOf(who)
      listener(request, response)
    }
    await turn()
    t.ok(served.indexOf('Bearer victim') > 0, `after ${served.indexOf('Bearer victim')}`)
    t.ok(served.length <= 2 * STARTS_A_TURN_MAX)
  })

  t.test('are not served when their client has left before its turn', async (t) => {
    let started = 0
    const listener = inTurns(() => void (started += 1))
    for (let n = 0; n < 2 * STARTS_A_TURN_MAX; n += 1) {
      const { request, response } = requestOf('Bearer flood')
      listener(request, response)
      request.socket.destroy()
    }
    await turn()
    await turn()
    t.equal(started, STARTS_A_TURN_MAX)
  })
})
