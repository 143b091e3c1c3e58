/**
 * All clients that are tried, in the order in which they are played.
 */
import { AWS_CLI } from './aws-cli.ts'
import { AWS_SDK } from './aws-sdk.ts'
import type { ClientScript } from './base/client-script.ts'
import { BOTO3 } from './boto3.ts'
import { DUPLICITY } from './duplicity.ts'
import { MINIO_JS } from './minio-js.ts'
import { RCLONE } from './rclone.ts'
import { RESTIC } from './restic.ts'
import { S3CMD } from './s3cmd.ts'
import { S3FS } from './s3fs.ts'

export const CLIENTS: readonly ClientScript[] = [
  AWS_SDK,
  MINIO_JS,
  BOTO3,
  AWS_CLI,
  S3CMD,
  RCLONE,
  RESTIC,
  S3FS,
  DUPLICITY,
]
