/**
 * The headers by which a receiver verifies the sender and the body. [Standard Webhooks 1.0]
 *
 * Owns: the signature. Rule: the exact text of the body is signed; the time is that of the attempt.
 */
import { createHmac } from 'node:crypto'

export interface SignedMessage {
  /** The same at every attempt. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly time: number
  readonly body: string
}

export function signatureHeaders(
  secret: Uint8Array,
  { id, time, body }: SignedMessage,
): Record<string, string> {
  const timestamp = Math.floor(time / 1000).toString()
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
