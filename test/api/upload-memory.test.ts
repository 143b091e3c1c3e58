/** What a client sees whose upload has to give way. */
import net from 'node:net'
import t from 'tap'
import { HEAD_BYTES } from '../../src/content/upload-memory.ts'
import { until } from '../helpers/async.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { ApiWorld } from './api-world.ts'

const MIB = 1024 * 1024
const OBJECTS = '/api/v1/buckets/photos/objects/'

t.test('a slow upload that gives way is answered 503 with Retry-After and stores nothing', async (t) => {
  let nowMs = 0
  const limits = { uploadMemoryBytesMax: HEAD_BYTES, contendedBytesPerSecondMin: 65_536 }
  const { world, token } = await ApiWorld.withBucket(t, { limits, uploadNow: () => nowMs })
  const { memory } = world.memory.content
  const slow = net.connect(world.dataPort, '127.0.0.1')
  t.teardown(() => slow.destroy())
  let answer = ''
  slow.on('error', () => undefined).on('data', (piece) => (answer += piece.toString('latin1')))
  slow.write(
    `PUT ${OBJECTS}slow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${4 * MIB}\r\n\r\n`,
  )
  slow.write(patternBytes(3 * MIB))
  await until('its bytes are held', () => memory.bytes >= 3 * MIB)
  t.equal(answer, '', 'no other upload waits')
  const statuses = new Set<number>()
  await until('the slow one is answered', async () => {
    // Silence counts from when the node asks the client for more, which may still be ahead when its bytes are held.
    nowMs += 20_000
    const body = patternBytes(3 * MIB, 2)
    const { status } = await world.call({ method: 'PUT', path: `${OBJECTS}fast`, token, body })
    statuses.add(status)
    return answer.includes('\r\n\r\n')
  })
  t.strictSame([...statuses], [200], 'fast ones are stored')
  t.match(answer, /^HTTP\/1\.1 503 /)
  t.match(answer, /\r\nretry-after: 10\r\n/i)
  t.match(answer, /"code":"slow_down"/)
  const look = await world.call({ method: 'HEAD', path: `${OBJECTS}slow`, token })
  t.equal(look.status, 404)
  t.equal(memory.bytes, 0)
})
