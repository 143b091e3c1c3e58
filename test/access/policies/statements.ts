/**
 * Policies for tests: one tenant, one bucket, two keys.
 */
import type { PolicyQuestion } from '../../../src/access/policies/evaluation.ts'

export const PLACE = { tenantId: 'acme', bucket: 'photos' }
export const ALICE = 'AKALICE'
export const BOB = 'AKBOB'
export const BUCKET = 'arn:aws:s3:::photos'

export type Json = Readonly<Record<string, unknown>>

/** A statement that denies all principals reading, with `changes`; a member that is undefined is omitted. */
export function statement(changes: Json = {}): Json {
  const usual = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: `${BUCKET}/*` }
  return Object.fromEntries(
    Object.entries({ ...usual, ...changes }).filter(([, value]) => value !== undefined),
  )
}

export function policy(...statements: readonly Json[]): Json {
  return { Version: '2012-10-17', Statement: statements }
}

/** Alice reads in/a from 192.0.2.1, at the beginning of 2027, without TLS. */
export function question(changes: Partial<PolicyQuestion> = {}): PolicyQuestion {
  const { attributes, ...rest } = changes
  return {
    accessKeyId: ALICE,
    actions: ['s3:GetObject'],
    key: 'in/a',
    ...rest,
    attributes: {
      'aws:SourceIp': '192.0.2.1',
      'aws:username': rest.accessKeyId ?? ALICE,
      'aws:SecureTransport': 'false',
      'aws:CurrentTime': `${Date.parse('2027-01-01T00:00:00Z')}`,
      ...attributes,
    },
  }
}
