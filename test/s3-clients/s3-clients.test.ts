/**
 * The clients that people use, each in a round trip over three real nodes, with another node for each step.
 *
 * One cluster serves all of them. A client that is not on this machine is skipped with what to install; of several versions the
 * first one plays here, and all of them in `npm run s3-clients`. The plain run plays the clients that differ
 * most from each other, the whole run all.
 */
import t from 'tap'
import { PLAYS_WHOLE } from '../helpers/proof-size.ts'
import { SMALL } from './base/sizes.ts'
import { S3World } from './base/s3-world.ts'
import { CLIENTS } from './clients.ts'

/** Two families of signatures and of checksums, copies between sides. */
const IN_A_SHARE = ['aws-sdk', 'minio-js', 'rclone']

/** Why a client is not played. */
function skipped(name: string, absence: string | null): string | false {
  if (absence !== null) return `not on this machine: ${absence}`
  return !PLAYS_WHOLE && !IN_A_SHARE.includes(name) && 'played by npm test -- --whole and npm run s3-clients'
}

t.test('clients of S3', { timeout: 1_800_000 }, async (t) => {
  const world = await S3World.start(t)
  for (const { name, find, absence } of CLIENTS) {
    const [client] = find()
    await t.test(name, { skip: skipped(name, client === undefined ? absence : null) }, async (t) => {
      if (client === undefined) return
      const steps = await world.play(name, client, { sizes: SMALL, keepsGoing: false })
      t.ok(steps.length > 0)
      for (const step of steps) t.equal(step.failure, null, `${name} ${client.version}: ${step.name}`)
    })
  }
})
