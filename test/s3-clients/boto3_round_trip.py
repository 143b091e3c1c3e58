"""The round trip of boto3. Started by boto3.ts with one JSON argument; prints a JSON line for each step.

Rules: the client of each step speaks to the next node; a step starts when its reader has judged the one before; a step that fails ends the script.
"""
import hashlib
import io
import json
import sys
import time
import traceback
import urllib.request
import uuid
from datetime import datetime, timedelta, timezone

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

GIVEN = json.loads(sys.argv[1])
BUCKET = GIVEN["bucket"]
ODD = GIVEN["oddNames"]
TURN = [0]


def client():
    endpoint = GIVEN["endpoints"][TURN[0] % len(GIVEN["endpoints"])]
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=GIVEN["accessKeyId"],
        aws_secret_access_key=GIVEN["secretKey"],
        region_name="us-east-1",
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )


def step(name):
    def run(work):
        s3 = client()
        start = time.monotonic()
        failure = None
        try:
            work(s3)
        except Exception:
            failure = traceback.format_exc()
        line = {"name": name, "endpoint": s3.meta.endpoint_url, "seconds": time.monotonic() - start, "failure": failure}
        print(json.dumps(line), flush=True)
        sys.stdin.readline()
        TURN[0] += 1
        if failure is not None and not GIVEN["keepsGoing"]:
            sys.exit(0)

    return run


def refused(code, call, **given):
    try:
        call(**given)
    except ClientError as error:
        assert error.response["Error"]["Code"] == code, error.response
        return error.response
    raise AssertionError(f"expected {code}")


def read(s3, key, **more):
    return s3.get_object(Bucket=BUCKET, Key=key, **more)["Body"].read()


def same(got, expected):
    assert got == expected, f"got {got!r}, expected {expected!r}"


def sent(method, url, body=None, headers=None):
    request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    with urllib.request.urlopen(request) as answer:
        return answer.read()


TRANSFER = TransferConfig(multipart_threshold=GIVEN["partBytes"], multipart_chunksize=GIVEN["partBytes"], max_concurrency=4)


@step("create_bucket, head_bucket, list_buckets")
def _(s3):
    s3.create_bucket(Bucket=BUCKET)
    s3.head_bucket(Bucket=BUCKET)
    assert BUCKET in [b["Name"] for b in s3.list_buckets()["Buckets"]]
    refused("404", s3.head_bucket, Bucket=BUCKET + "-not-there")


@step("put_object with unusual keys")
def _(s3):
    for key in ODD:
        answer = s3.put_object(Bucket=BUCKET, Key=key, Body=key.encode())
        same(answer["ETag"], '"%s"' % hashlib.md5(key.encode()).hexdigest())


@step("list_objects_v2 and list_objects, in pages")
def _(s3):
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, PaginationConfig={"PageSize": 2})
    same([o["Key"] for page in pages for o in page.get("Contents", [])], sorted(ODD, key=lambda key: key.encode()))
    pages = s3.get_paginator("list_objects").paginate(Bucket=BUCKET, PaginationConfig={"PageSize": 2})
    same([o["Key"] for page in pages for o in page.get("Contents", [])], sorted(ODD, key=lambda key: key.encode()))
    answer = s3.list_objects_v2(Bucket=BUCKET, Delimiter="/", Prefix="deep/")
    same([p["Prefix"] for p in answer["CommonPrefixes"]], ["deep/er/"])


@step("get_object of unusual keys")
def _(s3):
    for key in ODD:
        same(read(s3, key), key.encode())


@step("metadata, headers, tags")
def _(s3):
    until = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=1)
    s3.put_object(
        Bucket=BUCKET, Key="facts", Body=b"facts", Metadata={"from": "me"}, ContentType="text/x-facts", Expires=until,
        CacheControl="max-age=60", ContentDisposition='attachment; filename="f"', ContentEncoding="identity",
        ContentLanguage="de", Tagging="env=prod&team=web",
    )
    head = s3.head_object(Bucket=BUCKET, Key="facts")
    same(head["Metadata"], {"from": "me"})
    same([head[n] for n in ("ContentType", "CacheControl", "ContentDisposition", "ContentLanguage", "Expires")],
         ["text/x-facts", "max-age=60", 'attachment; filename="f"', "de", until])
    same(sorted((t["Key"], t["Value"]) for t in s3.get_object_tagging(Bucket=BUCKET, Key="facts")["TagSet"]),
         [("env", "prod"), ("team", "web")])
    s3.put_object_tagging(Bucket=BUCKET, Key="facts", Tagging={"TagSet": [{"Key": "a b", "Value": "ä"}]})
    same(s3.get_object_tagging(Bucket=BUCKET, Key="facts")["TagSet"], [{"Key": "a b", "Value": "ä"}])
    s3.delete_object_tagging(Bucket=BUCKET, Key="facts")
    same(s3.get_object_tagging(Bucket=BUCKET, Key="facts")["TagSet"], [])
    answer = s3.get_object(Bucket=BUCKET, Key="facts", ResponseContentType="text/other", ResponseCacheControl="no-store")
    same((answer["ContentType"], answer["CacheControl"]), ("text/other", "no-store"))


@step("conditions and ranges")
def _(s3):
    etag = s3.head_object(Bucket=BUCKET, Key="facts")["ETag"]
    same(read(s3, "facts", Range="bytes=1-3"), b"act")
    same(read(s3, "facts", IfMatch=etag), b"facts")
    refused("PreconditionFailed", s3.get_object, Bucket=BUCKET, Key="facts", IfMatch='"0"')
    refused("304", s3.get_object, Bucket=BUCKET, Key="facts", IfNoneMatch=etag)
    refused("InvalidRange", s3.get_object, Bucket=BUCKET, Key="facts", Range="bytes=10-20")
    refused("NoSuchKey", s3.get_object, Bucket=BUCKET, Key="not there")
    if "IfNoneMatch" in s3.meta.service_model.operation_model("PutObject").input_shape.members:
        refused("PreconditionFailed", s3.put_object, Bucket=BUCKET, Key="facts", Body=b"", IfNoneMatch="*")
        s3.put_object(Bucket=BUCKET, Key="once", Body=b"", IfNoneMatch="*")


@step("checksums")
def _(s3):
    names = ["CRC32", "SHA1", "SHA256"]
    for name in names:
        key = "checksum " + name
        put = s3.put_object(Bucket=BUCKET, Key=key, Body=b"sum", ChecksumAlgorithm=name)
        got = s3.get_object(Bucket=BUCKET, Key=key, ChecksumMode="ENABLED")
        same((got["Body"].read(), got["Checksum" + name]), (b"sum", put["Checksum" + name]))
        if "GetObjectAttributes" in s3.meta.service_model.operation_names:
            facts = s3.get_object_attributes(Bucket=BUCKET, Key=key, ObjectAttributes=["ETag", "Checksum", "ObjectSize"])
            same((facts["ObjectSize"], facts["Checksum"]["Checksum" + name]), (3, put["Checksum" + name]))


@step("upload_file and download_file in parts")
def _(s3):
    s3.upload_file(GIVEN["bigFile"], BUCKET, "big", Config=TRANSFER, ExtraArgs={"Metadata": {"from": "parts"}})
    s3.download_file(BUCKET, "big", GIVEN["bigFile"] + ".back", Config=TRANSFER)
    digest = hashlib.sha256()
    with open(GIVEN["bigFile"] + ".back", "rb") as back:
        for piece in iter(lambda: back.read(2**20), b""):
            digest.update(piece)
    same(digest.hexdigest(), GIVEN["bigSha256"])
    same(s3.head_object(Bucket=BUCKET, Key="big")["Metadata"], {"from": "parts"})


@step("copy of an object in parts")
def _(s3):
    s3.copy({"Bucket": BUCKET, "Key": "big"}, BUCKET, "copy of big", Config=TRANSFER)
    same(s3.head_object(Bucket=BUCKET, Key="copy of big")["ContentLength"], GIVEN["bigBytes"])
    s3.copy_object(Bucket=BUCKET, Key="facts 2", CopySource={"Bucket": BUCKET, "Key": "facts"}, Metadata={"x": "y"}, MetadataDirective="REPLACE")
    same(s3.head_object(Bucket=BUCKET, Key="facts 2")["Metadata"], {"x": "y"})


UPLOAD = {}


@step("an upload is interrupted")
def _(s3):
    class Interruption(Exception):
        pass

    class Body(io.BytesIO):
        def read(self, size=-1):
            if self.tell() > 2**20:
                raise Interruption()
            return super().read(min(size, 2**16) if size and size > 0 else 2**16)

    UPLOAD["id"] = s3.create_multipart_upload(Bucket=BUCKET, Key="resumed")["UploadId"]
    s3.upload_part(Bucket=BUCKET, Key="resumed", UploadId=UPLOAD["id"], PartNumber=1, Body=b"1" * GIVEN["partBytes"])
    request = urllib.request.Request(
        s3.generate_presigned_url("upload_part", Params={"Bucket": BUCKET, "Key": "resumed", "UploadId": UPLOAD["id"], "PartNumber": 2}),
        data=Body(b"2" * 2**22), method="PUT", headers={"Content-Length": str(2**22), "Content-Type": ""},
    )
    try:
        urllib.request.urlopen(request)
    except Interruption:
        return
    raise AssertionError("the upload was not interrupted")


@step("another client resumes it")
def _(s3):
    uploads = s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]
    same([(u["Key"], u["UploadId"]) for u in uploads], [("resumed", UPLOAD["id"])])
    parts = s3.list_parts(Bucket=BUCKET, Key="resumed", UploadId=UPLOAD["id"])["Parts"]
    same([(p["PartNumber"], p["Size"]) for p in parts], [(1, GIVEN["partBytes"])])
    copied = s3.upload_part_copy(Bucket=BUCKET, Key="resumed", UploadId=UPLOAD["id"], PartNumber=2,
                                 CopySource={"Bucket": BUCKET, "Key": "big"}, CopySourceRange="bytes=0-9")
    done = [{"PartNumber": 1, "ETag": parts[0]["ETag"]}, {"PartNumber": 2, "ETag": copied["CopyPartResult"]["ETag"]}]
    wrong = [done[1], done[0]]
    refused("InvalidPartOrder", s3.complete_multipart_upload, Bucket=BUCKET, Key="resumed", UploadId=UPLOAD["id"], MultipartUpload={"Parts": wrong})
    s3.complete_multipart_upload(Bucket=BUCKET, Key="resumed", UploadId=UPLOAD["id"], MultipartUpload={"Parts": done})
    same(s3.head_object(Bucket=BUCKET, Key="resumed")["ContentLength"], GIVEN["partBytes"] + 10)
    same(s3.head_object(Bucket=BUCKET, Key="resumed", PartNumber=2)["ContentLength"], 10)


@step("presigned URLs")
def _(s3):
    url = s3.generate_presigned_url("put_object", Params={"Bucket": BUCKET, "Key": "signed up+load", "ContentType": "text/x-signed"}, ExpiresIn=60)
    sent("PUT", url, b"by url", {"Content-Type": "text/x-signed"})
    url = s3.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "signed up+load"}, ExpiresIn=60)
    same(sent("GET", url), b"by url")


@step("a presigned POST of a form")
def _(s3):
    conditions = [["content-length-range", 1, 100], ["starts-with", "$Content-Type", "text/"]]
    form = s3.generate_presigned_post(BUCKET, "by form/${filename}", Fields=None, Conditions=conditions, ExpiresIn=60)
    boundary = uuid.uuid4().hex
    fields = {**form["fields"], "Content-Type": "text/x-form"}
    body = b"".join(
        b'--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (boundary.encode(), name.encode(), value.encode())
        for name, value in fields.items()
    )
    body += b'--%s\r\nContent-Disposition: form-data; name="file"; filename="f.txt"\r\n\r\nform\r\n--%s--\r\n' % ((boundary.encode(),) * 2)
    sent("POST", form["url"], body, {"Content-Type": "multipart/form-data; boundary=" + boundary})
    got = s3.get_object(Bucket=BUCKET, Key="by form/f.txt")
    same((got["Body"].read(), got["ContentType"]), (b"form", "text/x-form"))


@step("versions")
def _(s3):
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    old = s3.put_object(Bucket=BUCKET, Key="v", Body=b"old")["VersionId"]
    young = s3.put_object(Bucket=BUCKET, Key="v", Body=b"young")["VersionId"]
    same(read(s3, "v", VersionId=old), b"old")
    marker = s3.delete_object(Bucket=BUCKET, Key="v")
    same(marker["DeleteMarker"], True)
    listing = s3.list_object_versions(Bucket=BUCKET, Prefix="v")
    same([v["VersionId"] for v in listing["Versions"]], [young, old])
    same([m["VersionId"] for m in listing["DeleteMarkers"]], [marker["VersionId"]])
    refused("NoSuchKey", s3.get_object, Bucket=BUCKET, Key="v")
    refused("MethodNotAllowed", s3.get_object, Bucket=BUCKET, Key="v", VersionId=marker["VersionId"])
    s3.delete_object(Bucket=BUCKET, Key="v", VersionId=marker["VersionId"])
    same(read(s3, "v"), b"young")


@step("locks")
def _(s3):
    bucket = BUCKET + "-locks"
    until = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=1)
    s3.create_bucket(Bucket=bucket, ObjectLockEnabledForBucket=True)
    version = s3.put_object(Bucket=bucket, Key="k", Body=b"k", ObjectLockMode="GOVERNANCE", ObjectLockRetainUntilDate=until)["VersionId"]
    same(s3.get_object_retention(Bucket=bucket, Key="k")["Retention"], {"Mode": "GOVERNANCE", "RetainUntilDate": until})
    refused("AccessDenied", s3.delete_object, Bucket=bucket, Key="k", VersionId=version)
    s3.put_object_legal_hold(Bucket=bucket, Key="k", LegalHold={"Status": "ON"})
    same(s3.get_object_legal_hold(Bucket=bucket, Key="k")["LegalHold"]["Status"], "ON")
    same(s3.head_object(Bucket=bucket, Key="k")["ObjectLockLegalHoldStatus"], "ON")
    s3.put_object_legal_hold(Bucket=bucket, Key="k", LegalHold={"Status": "OFF"})
    s3.delete_object(Bucket=bucket, Key="k", VersionId=version, BypassGovernanceRetention=True)
    s3.delete_bucket(Bucket=bucket)


@step("sub-resources of a bucket")
def _(s3):
    assert s3.get_bucket_location(Bucket=BUCKET)["LocationConstraint"] in (None, "us-east-1")
    same(s3.get_bucket_encryption(Bucket=BUCKET)["ServerSideEncryptionConfiguration"]["Rules"][0]
         ["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"], "AES256")
    rule = {"AllowedMethods": ["GET"], "AllowedOrigins": ["https://example.com"], "AllowedHeaders": ["*"], "MaxAgeSeconds": 60}
    refused("NoSuchCORSConfiguration", s3.get_bucket_cors, Bucket=BUCKET)
    s3.put_bucket_cors(Bucket=BUCKET, CORSConfiguration={"CORSRules": [rule]})
    same(s3.get_bucket_cors(Bucket=BUCKET)["CORSRules"][0]["AllowedOrigins"], ["https://example.com"])
    s3.delete_bucket_cors(Bucket=BUCKET)
    refused("NoSuchTagSet", s3.get_bucket_tagging, Bucket=BUCKET)
    s3.put_bucket_tagging(Bucket=BUCKET, Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})
    same(s3.get_bucket_tagging(Bucket=BUCKET)["TagSet"], [{"Key": "a", "Value": "b"}])
    s3.delete_bucket_tagging(Bucket=BUCKET)
    refused("NoSuchBucketPolicy", s3.get_bucket_policy, Bucket=BUCKET)
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject",
                                                     "Resource": "arn:aws:s3:::%s/secret/*" % BUCKET}]}
    s3.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps(policy))
    same(json.loads(s3.get_bucket_policy(Bucket=BUCKET)["Policy"])["Statement"][0]["Effect"], "Deny")
    s3.put_object(Bucket=BUCKET, Key="secret/x", Body=b"x")
    refused("AccessDenied", s3.get_object, Bucket=BUCKET, Key="secret/x")
    s3.delete_bucket_policy(Bucket=BUCKET)
    same(s3.get_bucket_acl(Bucket=BUCKET)["Grants"][0]["Permission"], "FULL_CONTROL")


@step("delete_objects of everything, delete_bucket")
def _(s3):
    deleted = 0
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=BUCKET):
        objects = [{"Key": v["Key"], "VersionId": v["VersionId"]} for v in page.get("Versions", []) + page.get("DeleteMarkers", [])]
        answer = s3.delete_objects(Bucket=BUCKET, Delete={"Objects": objects})
        same(answer.get("Errors", []), [])
        deleted += len(answer["Deleted"])
    assert deleted > len(ODD)
    s3.delete_bucket(Bucket=BUCKET)
    refused("NoSuchBucket", s3.list_objects_v2, Bucket=BUCKET)
