/** How the speed of a client is measured: by the time that it is waited for. */
import t from 'tap'
import { ClientSpeed } from '../../src/content/client-speed.ts'

/** A client that sends so many bytes each so many milliseconds, from 0 on; returns when it has sent the last. */
function deliver(speed: ClientSpeed, pieces: number, bytes: number, everyMs: number): number {
  for (let n = 0; n < pieces; n += 1) {
    speed.asked(n * everyMs)
    speed.arrived(bytes, (n + 1) * everyMs)
  }
  return pieces * everyMs
}

t.test('ClientSpeed', async (t) => {
  t.test('is unknown until five seconds were waited', async (t) => {
    const speed = new ClientSpeed()
    t.equal(speed.at(1_000_000), null)
    speed.asked(0)
    t.equal(speed.at(4999), null)
    t.equal(speed.at(5000), 0)
  })

  t.test('counts no time in which the client was not waited for', async (t) => {
    const speed = new ClientSpeed()
    speed.asked(0)
    speed.arrived(600_000, 6000)
    t.equal(speed.at(6000), 100_000)
    t.equal(speed.at(3_600_000), 100_000)
  })

  t.test('counts no time in which its bytes had come and were held back', async (t) => {
    let heldMs = 500
    const speed = new ClientSpeed(() => heldMs)
    speed.asked(0)
    heldMs += 20_000
    t.equal(speed.at(21_000), null, 'not while they are held either: one second was waited')
    heldMs += 4_000
    speed.arrived(600_000, 30_000)
    t.equal(speed.at(30_000), 100_000, 'six seconds of thirty')
    speed.asked(30_000)
    t.equal(speed.at(45_000), 0, 'what was held before is no excuse for silence')
  })

  t.test('is that of the last seconds, so that a burst does not pay for what follows', async (t) => {
    const speed = new ClientSpeed()
    const at = deliver(speed, 10, 1_000_000, 1000)
    t.equal(speed.at(at), 1_000_000)
    for (let second = 0; second < 120; second += 1) {
      speed.asked(at + 1000 * second)
      speed.arrived(1000, at + 1000 * (second + 1))
    }
    const last = speed.at(at + 120_000) ?? Infinity
    t.ok(last < 10_000, `${last} bytes a second`)
  })

  t.test('is nothing after fifteen seconds of silence', async (t) => {
    const speed = new ClientSpeed()
    const at = deliver(speed, 10, 1_000_000, 1000)
    speed.asked(at)
    t.ok((speed.at(at + 14_999) ?? 0) > 0)
    t.equal(speed.at(at + 15_000), 0)
  })
})
