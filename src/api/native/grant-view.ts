/**
 * What a bearer token is handed out with, whatever it was given for. [native: Bearer token 1]
 */
import Type from 'typebox'
import { Time, timeText } from '../wire.ts'

interface Grant {
  readonly token: string
  readonly expiresInSeconds: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly accessKeyId: string
  readonly tenantId: string
}

export const GRANT_VIEW = {
  token: Type.String(),
  tokenType: Type.Enum(['Bearer']),
  expiresIn: Type.Integer({ description: 'Seconds' }),
  expiresAt: Time,
  accessKeyId: Type.String(),
  tenantId: Type.String(),
}

export const grantView = ({ token, expiresInSeconds, expiresAt, accessKeyId, tenantId }: Grant) => ({
  token,
  tokenType: 'Bearer',
  expiresIn: expiresInSeconds,
  expiresAt: timeText(expiresAt),
  accessKeyId,
  tenantId,
})
