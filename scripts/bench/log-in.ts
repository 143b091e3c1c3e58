/**
 * Logs a measurement in with the typed client, like any program of a user.
 *
 * The measured requests use BenchClient, which costs less.
 */
import { type DataClient, dataClient } from '../../src/client/clients.ts'

export interface KeyHolder {
  readonly endpoints: readonly string[]
  readonly accessKeyId: string
  readonly secretKey: string
}

/** A token that is valid for an hour. */
export function logIn(holder: KeyHolder): Promise<string> {
  const { accessKeyId, secretKey } = holder
  return asking(holder, async (client) => {
    const { answer } = await client.call('createToken', { body: { accessKeyId, secretKey } })
    return answer.token
  })
}

export async function makeBucket(holder: KeyHolder, name: string): Promise<void> {
  await asking(holder, (client) => client.call('createBucket', { body: { name } }))
}

async function asking<T>(holder: KeyHolder, work: (client: DataClient) => Promise<T>): Promise<T> {
  const client = dataClient(holder)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}
