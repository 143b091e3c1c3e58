/** The memory that uploads share: its bound, who waits, who gives way, and that nothing of it is lost. */
import t from 'tap'
import { ClientSpeed } from '../../src/content/client-speed.ts'
import type { UploadCaller } from '../../src/content/memory-shares.ts'
import { type ChunkShare, HEAD_BYTES, UploadMemory } from '../../src/content/upload-memory.ts'

const never = new AbortController().signal
const MIB = 1024 * 1024
const MAX = 16 * MIB
const SPEED_MIN = 65_536

const caller = (tenantId: string, accessKeyId = 'k'): UploadCaller => ({
  tenantId,
  accessKeyId,
  address: 'a',
})

class World {
  nowMs = 0
  readonly preempted: string[] = []
  readonly memory: UploadMemory

  constructor(speedMin = SPEED_MIN) {
    this.memory = new UploadMemory({ bytesMax: MAX, speedMin, now: () => this.nowMs })
  }

  /** An upload whose client has sent so many bytes a second for ten seconds; null: it was never waited for. */
  upload(name: string, who: UploadCaller, bytesPerSecond: number | null = null): ChunkShare {
    const speed = new ClientSpeed()
    if (bytesPerSecond !== null) {
      speed.asked(this.nowMs - 10_000)
      speed.arrived(10 * bytesPerSecond, this.nowMs)
    }
    return this.memory.begin(who, speed, ({ code, retryAfterMs }) =>
      this.preempted.push(`${name} ${code} ${retryAfterMs}`),
    )
  }

  /** Uploads of 1 MiB each until one has to wait; all of them, the waiting one last. */
  fill(who: UploadCaller, bytesPerSecond: number | null = null): readonly ChunkShare[] {
    const shares: ChunkShare[] = []
    for (;;) {
      const share = this.upload(`${who.tenantId} ${shares.length}`, who, bytesPerSecond)
      shares.push(share)
      const turn = share.take(MIB, never)
      if (turn === null) continue
      turn.catch(() => undefined)
      return shares
    }
  }
}

/** Everything that microtasks settle is settled. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('UploadMemory', async (t) => {
  t.test('lets a tenant have most of it, and another one its part at once', async (t) => {
    const world = new World()
    const crowd = world.fill(caller('evil'))
    await settled()
    t.ok(world.memory.bytes > 0.7 * MAX)
    t.equal(world.upload('other', caller('acme')).take(2 * MIB, never), null)
    t.same(world.preempted, [], 'no upload gives way that was not too slow')
    for (const share of crowd) share.release()
  })

  t.test('makes the slowest clients of the heaviest give way while others wait', async (t) => {
    const world = new World()
    world.upload('light and slow', caller('acme'), 1).take(4096, never)
    world.upload('slowest', caller('evil'), 100).take(MIB, never)
    world.upload('slow', caller('evil'), 1000).take(MIB, never)
    world.upload('fast enough', caller('evil'), SPEED_MIN).take(MIB, never)
    world.upload('unknown', caller('evil')).take(MIB, never)
    world.fill(caller('evil'), 1_000_000)
    await settled()
    t.same(world.preempted, ['slowest slow_down 10000'], 'one was enough')
    t.equal(world.memory.preempted, 1)
    t.equal(world.memory.waiting, 0)
  })

  t.test('asks no speed of anyone while there is room', async (t) => {
    const world = new World()
    for (let n = 0; n < 1000; n += 1) world.upload(`${n}`, caller('evil'), 1).take(4096, never)
    world.nowMs += 3_600_000
    world.memory.judge()
    t.same(world.preempted, [])
    t.equal(world.memory.oldestMs, 3_600_000)
  })

  t.test('preempts no chunk that is whole', async (t) => {
    const world = new World()
    const whole = world.upload('whole', caller('evil'), 1)
    whole.take(MIB, never)
    whole.whole()
    world.fill(caller('evil'), 1_000_000)
    world.memory.judge()
    t.same(world.preempted, [])
  })

  t.test(
    'comes to an end although all uploads wait for each other, and stays within its bound',
    async (t) => {
      const world = new World(0)
      const uploads = Array.from({ length: 100 }, (_, n) =>
        world.upload(`${n}`, caller(`t${n % 7}`, `k${n % 3}`)),
      )
      let most = 0
      const runs = uploads.map(async (share) => {
        for (let bytes = 0; bytes < 4 * MIB; bytes += 65_536) {
          await share.take(65_536, never)
          most = Math.max(most, world.memory.bytes)
          await settled()
        }
        share.whole()
        await settled()
        share.release()
      })
      await Promise.all(runs)
      t.ok(most > MAX / 2, 'they were in each other’s way')
      t.ok(most <= MAX + HEAD_BYTES, `${most} bytes`)
      t.equal(world.memory.bytes, 0)
      t.equal(world.memory.waiting, 0)
      t.equal(world.memory.oldestMs, 0)
    },
  )

  t.test('serves the tenant that holds the least first', async (t) => {
    const world = new World(0)
    const crowd = world.fill(caller('evil'))
    await settled()
    // The head of the first tenant holds the reserve; all others wait.
    const order: string[] = []
    const wait = (tenantId: string): void => {
      const share = world.upload(tenantId, caller(tenantId))
      Promise.resolve(share.take(4 * MIB, never)).then(
        () => order.push(tenantId),
        () => undefined,
      )
    }
    wait('evil')
    wait('acme')
    await settled()
    t.strictSame(order, [])
    crowd.at(-1)?.release()
    await settled()
    t.strictSame(order, ['acme'], 'the next head, although the other one has waited longer')
    for (const share of crowd) share.release()
    await settled()
    t.strictSame(order, ['acme', 'evil'])
  })

  t.test('forgets a waiting upload that is aborted, and its memory', async (t) => {
    const world = new World(0)
    const crowd = world.fill(caller('evil'))
    await settled()
    const controller = new AbortController()
    const share = world.upload('leaving', caller('evil'))
    const turn = share.take(MIB, controller.signal)
    t.equal(world.memory.waiting, 1)
    controller.abort(new Error('gone'))
    await t.rejects(Promise.resolve(turn), { message: 'gone' })
    await t.rejects(Promise.resolve(share.take(8 * MIB, controller.signal)), { message: 'gone' })
    share.release()
    share.release()
    t.equal(world.memory.waiting, 0)
    for (const other of crowd) other.release()
    await settled()
    t.equal(world.memory.bytes, 0)
  })

  t.test('lets no silent head keep the others waiting', async (t) => {
    const world = new World()
    const crowd = world.fill(caller('evil'), 1_000_000)
    await settled()
    const head = crowd.at(-1)
    head?.speed.asked(world.nowMs)
    const next = world.upload('next', caller('evil'), 1_000_000)
    let isServed = false
    void Promise.resolve(next.take(MIB, never)).then(() => (isServed = true))
    await settled()
    t.notOk(isServed)
    world.nowMs += 15_000
    world.memory.judge()
    await settled()
    t.match(world.preempted, [/^evil \d+ slow_down/])
    t.ok(isServed)
  })
})
