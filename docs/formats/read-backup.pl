#!/usr/bin/perl
# Reads a backup of Holdfast without Holdfast: lists its objects, or writes the bytes of one of them.
#
#   perl read-backup.pl list --from FOLDER --key-file master.key [--backup ID]
#   perl read-backup.pl get  --from FOLDER --key-file master.key [--backup ID] TENANT BUCKET KEY [VERSION] > FILE
#
# Needs Perl with its standard modules, openssl, and zstd for chunks that are compressed. FOLDER is the target, as files: of a bucket, a copy.
# The key file holds the keys themselves: lines of the form holdfast-master-key-1. --zstd names another program that expands its input.
# --customer-key is the base64 of the key that a client sent with an object.
#
# Everything it knows is said in backup.md, tokens.md, row.md, keyspace.md and sealed-chunk.md. Every seal and digest is compared. The rows are
# read once or twice for each call, and one file of them is in memory at a time.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256 hmac_sha256_hex sha256_hex);
use File::Temp ();
use Getopt::Long qw(GetOptions);
use IO::Uncompress::Gunzip qw(gunzip $GunzipError);
use JSON::PP ();
use MIME::Base64 qw(decode_base64);

my %option = (zstd => 'zstd -dc');
GetOptions(\%option, 'from=s', 'key-file=s', 'backup=s', 'zstd=s', 'customer-key=s') or die "see the head of $0\n";
my ($what, @names) = @ARGV;
die "see the head of $0\n" unless defined $what && defined $option{from} && defined $option{'key-file'};

my %master = read_master_keys($option{'key-file'});
my $manifest_file = find_manifest();
my $manifest = read_manifest($manifest_file);
if    ($what eq 'list') { list_objects() }
elsif ($what eq 'get')  { get_object(@names) }
else                    { die "list or get\n" }

# --- keys [tokens.md] ---

sub hkdf {
    my ($key, $salt, $info) = @_;
    return hmac_sha256("$info\x01", hmac_sha256($key, $salt eq '' ? "\0" x 32 : $salt));
}

sub from_base64url { my $text = shift; $text =~ tr{-_}{+/}; return decode_base64($text) }

sub read_master_keys {
    my %keys;
    for (split /\n/, slurp(shift)) {
        my ($form, $id, $secret) = split /:/;
        die "the key file holds a wrapped key: unwrap it first\n" unless $form eq 'holdfast-master-key-1';
        $keys{$id} = hkdf(from_base64url($secret), '', 'holdfast/1/sealing/');
    }
    return %keys;
}

# A sealed secret, formats 1 and 2.
sub open_secret {
    my ($sealed, $context) = @_;
    my $format = ord $sealed;
    my ($id, $rest) = $format == 2 ? unpack('x C/a a*', $sealed) : (undef, substr $sealed, 1);
    for my $key_id (defined $id ? $id : keys %master) {
        next unless defined $master{$key_id};
        my $nonce = substr $rest, 0, 12;
        my ($plain) = eval { gcm_open($master{$key_id}, "$key_id\n$context", [$nonce, substr $rest, 12]) };
        return $plain if defined $plain;
    }
    die "$context does not open under the keys of $option{'key-file'}\n";
}

# --- AES-256-GCM: the block cipher is that of openssl, the rest is here ---

# Opens [nonce, cipher text and tag] pairs that one key has sealed with the same associated data.
sub gcm_open {
    my ($key, $aad, @boxes) = @_;
    my $blocks = "\0" x 16;
    for my $box (@boxes) {
        my $count = int((length($box->[1]) - 16 + 15) / 16);
        $blocks .= join '', map { $box->[0] . pack 'N', $_ } 1 .. $count + 1;
    }
    my $stream = aes_blocks($key, $blocks);
    my $tables = ghash_tables(substr $stream, 0, 16);
    my ($at, @plain) = 16;
    for my $box (@boxes) {
        my $text = substr $box->[1], 0, -16;
        my $sum = ghash($tables, padded($aad) . padded($text) . pack('Q>2', 8 * length $aad, 8 * length $text));
        die "a seal is broken\n" unless ($sum ^ substr($stream, $at, 16)) eq substr $box->[1], -16;
        push @plain, $text ^ substr $stream, $at + 16, length $text;
        $at += 16 * (1 + int((length($text) + 15) / 16));
    }
    return @plain;
}

sub padded { my $text = shift; return $text . "\0" x (-length($text) % 16) }

sub aes_blocks {
    my ($key, $blocks) = @_;
    my $file = File::Temp->new;
    binmode $file;
    print {$file} $blocks;
    $file->flush;
    my @call = ('openssl', 'enc', '-aes-256-ecb', '-nopad', '-K', unpack('H*', $key), '-in', "$file");
    open my $pipe, '-|', @call or die "openssl: $!\n";
    binmode $pipe;
    local $/;
    my $out = <$pipe>;
    close $pipe or die "openssl has failed\n";
    return $out;
}

# For each of the 16 bytes of a block and each of its values, the product with the hash key. [NIST SP 800-38D 6.3]
sub ghash_tables {
    my @v = unpack 'N4', shift;
    my @tables;
    for my $byte (0 .. 15) {
        my @table = ("\0" x 16);
        for my $bit (0 .. 7) {
            $table[128 >> $bit] = pack 'N4', @v;
            my $is_odd = $v[3] & 1;
            $v[$_] = ($v[$_] >> 1) | (($v[$_ - 1] & 1) << 31) for reverse 1 .. 3;
            $v[0] = ($v[0] >> 1) ^ ($is_odd ? 0xe1000000 : 0);
        }
        for my $value (1 .. 255) {
            my $rest = $value & ($value - 1);
            $table[$value] = $table[$rest] ^ $table[$value - $rest] if $rest;
        }
        push @tables, @table;
    }
    return \@tables;
}

sub ghash {
    my ($t, $bytes) = @_;
    my $sum = "\0" x 16;
    for (my $at = 0; $at < length $bytes; $at += 16) {
        my @b = unpack 'C16', $sum ^ substr $bytes, $at, 16;
        $sum = $t->[$b[0]] ^ $t->[256 + $b[1]] ^ $t->[512 + $b[2]] ^ $t->[768 + $b[3]]
            ^ $t->[1024 + $b[4]] ^ $t->[1280 + $b[5]] ^ $t->[1536 + $b[6]] ^ $t->[1792 + $b[7]]
            ^ $t->[2048 + $b[8]] ^ $t->[2304 + $b[9]] ^ $t->[2560 + $b[10]] ^ $t->[2816 + $b[11]]
            ^ $t->[3072 + $b[12]] ^ $t->[3328 + $b[13]] ^ $t->[3584 + $b[14]] ^ $t->[3840 + $b[15]];
    }
    return $sum;
}

# --- files of the backup [backup.md] ---

sub slurp {
    my $file = shift;
    open my $handle, '<:raw', $file or die "$file: $!\n";
    local $/;
    return scalar <$handle>;
}

# The newest one, unless --backup says which. Names are in the order of time.
sub find_manifest {
    my $id = defined $option{backup} ? $option{backup} : '*';
    my @found = sort { (split m{/}, $a)[-2] cmp (split m{/}, $b)[-2] } glob "\Q$option{from}\E/backups/*/$id/manifest.json";
    die "there is no finished backup in $option{from}\n" unless @found;
    return $found[-1];
}

sub read_manifest {
    my $file = shift;
    my ($line, $seal) = split /\n/, slurp($file);
    my $read = JSON::PP->new->utf8->decode($line);
    die "$file has format $read->{format}, known is 1\n" unless $read->{format} == 1;
    $read->{backupKey} = open_secret(decode_base64($read->{key}), "backup/$read->{backupId}/key");
    my $key = hkdf($read->{backupKey}, '', 'holdfast/backup/1/manifest');
    die "$file was changed\n" unless hmac_sha256_hex($line, $key) eq $seal;
    return $read;
}

sub cluster_folder { return lc $manifest->{clusterId} }

sub open_file {
    my $entry = shift;
    my $name = join '/', 'backups', cluster_folder(), $manifest->{backupId}, $entry->{name};
    my $sealed = slurp("$option{from}/$name");
    die "$name has other bytes than were written\n" unless sha256_hex($sealed) eq $entry->{sha256};
    my ($head, $salt, $rest) = unpack 'a5 a32 a*', $sealed;
    die "$name is no file of a backup\n" unless $head eq "HFBK\x01";
    my ($packed) = gcm_open(hkdf($manifest->{backupKey}, $salt, 'holdfast/backup/1/file'), $name, ["\0" x 12, $rest]);
    gunzip(\$packed => \my $plain) or die "$name: $GunzipError\n";
    return $plain;
}

# --- rows [row.md, keyspace.md] ---

sub each_row {
    my $take = shift;
    for my $file (@{ $manifest->{state} }) {
        my $block = open_file($file);
        my $at = 0;
        while ($at < length $block) {
            my ($key, $value) = unpack "x$at L</a L</a", $block;
            $at += 8 + length($key) + length $value;
            my @parts = split /\0/, $key, -1;
            my $kind = $parts[0] eq 'in' ? $parts[2] : $parts[0];
            # Five bytes of version and CRC-32; the file as a whole was authenticated.
            $take->($kind, \@parts, sub { (unpack_value($value, 5))[0] });
        }
    }
}

# MessagePack, as far as rows use it. Returns the value and the place behind it.
sub unpack_value {
    my ($bytes, $at) = @_;
    my $type = ord substr $bytes, $at++, 1;
    return ($type, $at) if $type < 0x80;
    return (unpack('c', chr $type), $at) if $type >= 0xe0;
    return unpack_map($bytes, $at, $type & 15) if $type < 0x90;
    return unpack_list($bytes, $at, $type & 15) if $type < 0xa0;
    return unpack_text($bytes, $at, $type & 31) if $type < 0xc0;
    return (undef, $at) if $type == 0xc0;
    return ($type - 0xc2, $at) if $type == 0xc2 || $type == 0xc3;
    my %number = (0xca => 'f> 4', 0xcb => 'd> 8', 0xcc => 'C 1', 0xcd => 'n 2', 0xce => 'N 4', 0xcf => 'Q> 8',
        0xd0 => 'c 1', 0xd1 => 's> 2', 0xd2 => 'l> 4', 0xd3 => 'q> 8');
    if (my $form = $number{$type}) {
        my ($template, $size) = split / /, $form;
        return (unpack("x$at $template", $bytes), $at + $size);
    }
    my %sized = (0xc4 => 'C 1 bytes', 0xc5 => 'n 2 bytes', 0xc6 => 'N 4 bytes', 0xd9 => 'C 1 text', 0xda => 'n 2 text',
        0xdb => 'N 4 text', 0xdc => 'n 2 list', 0xdd => 'N 4 list', 0xde => 'n 2 map', 0xdf => 'N 4 map');
    if (my $form = $sized{$type}) {
        my ($template, $size, $of) = split / /, $form;
        my $count = unpack "x$at $template", $bytes;
        $at += $size;
        return (substr($bytes, $at, $count), $at + $count) if $of eq 'bytes';
        return unpack_text($bytes, $at, $count) if $of eq 'text';
        return $of eq 'list' ? unpack_list($bytes, $at, $count) : unpack_map($bytes, $at, $count);
    }
    # Extensions hold nothing that is needed here: a length, a type, the bytes.
    my %fixed = (0xd4 => 1, 0xd5 => 2, 0xd6 => 4, 0xd7 => 8, 0xd8 => 16);
    return (undef, $at + 1 + $fixed{$type}) if $fixed{$type};
    die sprintf "a row holds type %02x of MessagePack\n", $type;
}

sub unpack_text {
    my ($bytes, $at, $count) = @_;
    my $text = substr $bytes, $at, $count;
    utf8::decode($text);
    return ($text, $at + $count);
}

sub unpack_list {
    my ($bytes, $at, $count) = @_;
    my ($item, @list);
    while ($count-- > 0) { ($item, $at) = unpack_value($bytes, $at); push @list, $item }
    return (\@list, $at);
}

sub unpack_map {
    my ($bytes, $at, $count) = @_;
    my ($name, $item, %map);
    while ($count-- > 0) {
        ($name, $at) = unpack_value($bytes, $at);
        ($item, $at) = unpack_value($bytes, $at);
        $map{$name} = $item;
    }
    return (\%map, $at);
}

# --- objects ---

# One line of JSON for each version: tenant, bucket, key, version id, bytes.
sub list_objects {
    my %bucket;
    my $json = JSON::PP->new->utf8;
    each_row(sub {
        my ($kind, $parts, $row) = @_;
        $bucket{ $row->()->{id} } = [$row->()->{tenantId}, $row->()->{name}] if $kind eq 'bucket';
        return unless $kind eq 'object' || $kind eq 'version';
        my $version = $row->();
        return unless $version->{kind} eq 'object';
        print $json->encode([@{ $bucket{ $parts->[1] } }, $version->{key}, shown_id($version), $version->{size}]), "\n";
    });
}

# As clients know it.
sub shown_id { my $version = shift; return $version->{isNull} ? 'null' : $version->{versionId} }

sub get_object {
    my ($tenant_id, $bucket_name, $key, $wanted) = @_;
    die "get TENANT BUCKET KEY [VERSION]\n" unless defined $key;
    utf8::decode($_) for grep { defined } $tenant_id, $bucket_name, $key;
    my ($tenant, $bucket_id, $found);
    each_row(sub {
        my ($kind, $parts, $row) = @_;
        if ($kind eq 'tenant' && $row->()->{id} eq $tenant_id) { $tenant = $row->() }
        elsif ($kind eq 'bucket') {
            my $bucket = $row->();
            $bucket_id = $bucket->{id} if $bucket->{tenantId} eq $tenant_id && $bucket->{name} eq $bucket_name;
        }
        elsif (($kind eq 'object' || $kind eq 'version') && defined $bucket_id && $parts->[1] eq $bucket_id) {
            my $version = $row->();
            return unless $version->{key} eq $key && $version->{kind} eq 'object';
            $found = $version if defined $wanted ? shown_id($version) eq $wanted : $kind eq 'object';
        }
    });
    die "there is no such object in the backup\n" unless $found && $tenant;
    my $rows = rows_of_bodies($bucket_id, $found);
    my %keys = keys_of($tenant, $found);
    my @pieces = $found->{body}{kind} eq 'parts'
        ? map { @{ $_->{parts} } } pages_of($rows->{parts}{ $found->{versionId} })
        : ({ partId => $found->{versionId}, body => $found->{body}, size => $found->{size} });
    binmode STDOUT;
    for my $piece (@pieces) { write_piece($piece, $rows, \%keys) }
    close STDOUT or die "cannot write: $!\n";
}

# The rows of bodies of a bucket that this version may need: the parts of an assembled object have ids of their own.
sub rows_of_bodies {
    my ($bucket_id, $version) = @_;
    my (%rows, %wanted);
    $wanted{ $version->{versionId} } = 1;
    my $parts_of = sub {
        my ($kind, $parts, $row) = @_;
        return unless $kind eq 'partPage' && $parts->[1] eq $bucket_id && $parts->[3] eq $version->{versionId};
        my $page = $rows{parts}{ $parts->[3] }{ $parts->[4] } = $row->();
        $wanted{ $_->{partId} } = 1 for @{ $page->{parts} };
    };
    each_row($parts_of) if $version->{body}{kind} eq 'parts';
    my %chunk_ids;
    each_row(sub {
        my ($kind, $parts, $row) = @_;
        return unless $parts->[0] eq 'in' && $parts->[1] eq $bucket_id && @$parts > 3 && $wanted{ $parts->[3] };
        $rows{inline}{ $parts->[3] } = $row->() if $kind eq 'inlineBody';
        return unless $kind eq 'manifestPage';
        my $page = $rows{links}{ $parts->[3] }{ $parts->[4] } = $row->();
        $chunk_ids{ $_->{id} } = 1 for @{ $page->{links} };
    });
    each_row(sub {
        my ($kind, $parts, $row) = @_;
        return unless $kind eq 'chunk' && $chunk_ids{ $parts->[2] };
        my $chunk = $row->();
        $rows{chunk}{"$chunk->{tenantId}/$chunk->{id}"} = $chunk;
    }) if %chunk_ids;
    return \%rows;
}

sub pages_of { my $pages = shift; return map { $pages->{$_} } sort keys %{ $pages || {} } }

# Data keys by their versions, and the dedup key. [sealed-chunk.md, Versions of the data key; Keys of clients]
sub keys_of {
    my ($tenant, $version) = @_;
    my ($id, $now) = ($tenant->{id}, $tenant->{dataKeyVersion} || 1);
    my %keys = (tenant => $id, dedup => open_secret($tenant->{dedupKey}, "tenant/$id/dedup-key"));
    my $open = sub {
        my ($sealed, $number) = @_;
        $keys{$number} = open_secret($sealed, "tenant/$id/data-key" . ($number == 1 ? '' : "/$number"));
    };
    $open->($tenant->{dataKey}, $now);
    $open->($tenant->{formerKey}{dataKey}, $tenant->{formerKey}{version}) if $tenant->{formerKey};
    if (my $seal = $version->{customerSeal}) {
        die "only the client has the key of this object: --customer-key\n" unless defined $option{'customer-key'};
        my $secret = from_base64url($seal->{salt}) . decode_base64($option{'customer-key'});
        my $root = hmac_sha256("holdfast/1/customer-key/$secret", $keys{dedup});
        die "this is another key than the client's\n" unless hmac_sha256('proof', $root) eq from_base64url($seal->{proof});
        ($keys{0}, $keys{dedup}) = (hmac_sha256('data', $root), hmac_sha256('dedup', $root));
    }
    return %keys;
}

sub write_piece {
    my ($piece, $rows, $keys) = @_;
    my $kind = $piece->{body}{kind};
    return if $kind eq 'empty';
    if ($kind eq 'inline') {
        my $row = $rows->{inline}{ $piece->{partId} } or die "a small body is missing\n";
        my $id = $piece->{body}{chunkId};
        print open_chunk($row->{sealed}, $id, $piece->{size}, $keys->{ $row->{keyVersion} || 1 }, $keys->{dedup});
        return;
    }
    for my $page (pages_of($rows->{links}{ $piece->{partId} })) {
        for my $link (@{ $page->{links} }) {
            my $chunk = $rows->{chunk}{"$keys->{tenant}/$link->{id}"} or die "no row of chunk $link->{id}\n";
            my $number = defined $chunk->{keyVersion} ? $chunk->{keyVersion} : 1;
            my $name = join '/', 'chunks', cluster_folder(), substr($link->{id}, 0, 2), "$link->{id}.$chunk->{checksum}";
            my $sealed = slurp("$option{from}/$name");
            die "$name has other bytes than were written\n" unless sha256_hex($sealed) eq $chunk->{checksum};
            print open_chunk($sealed, $link->{id}, $link->{size}, $keys->{$number}, $keys->{dedup});
        }
    }
}

# --- chunks [sealed-chunk.md] ---

sub open_chunk {
    my ($sealed, $id, $size, $data_key, $dedup_key) = @_;
    die "the tenant has no key of the version that seals chunk $id\n" unless defined $data_key;
    my $frames = int(($size + 65535) / 65536);
    my @plain_sizes = map { $_ < $frames - 1 ? 65536 : $size - 65536 * ($frames - 1) } 0 .. $frames - 1;
    my ($key, $aad, $at, @sizes);
    if (length $sealed == $size + 16 * $frames) {
        ($key, $aad, $at) = (hkdf($data_key, '', "holdfast/1/chunk/$id"), 'hf-chunk-1' . pack('Q>', $size), 0);
        @sizes = @plain_sizes;
    } else {
        $at = 33 + 2 * $frames;
        my ($form, $salt, @lengths) = unpack "a a32 n$frames", $sealed;
        die "chunk $id has an unknown format\n" unless $form eq "\x02";
        @sizes = map { $_ + 1 } @lengths;
        ($key, $aad) = (hkdf($data_key, $salt, "holdfast/2/chunk/$id"), 'hf-chunk-2' . pack('Q>', $size) . substr $sealed, 0, $at);
    }
    my @boxes;
    for my $n (0 .. $frames - 1) {
        push @boxes, [pack('x4 Q>', $n), substr $sealed, $at, $sizes[$n] + 16];
        $at += $sizes[$n] + 16;
    }
    my @texts = gcm_open($key, $aad, @boxes);
    my $plain = join '', map { $sizes[$_] == $plain_sizes[$_] ? $texts[$_] : expanded($texts[$_]) } 0 .. $frames - 1;
    die "chunk $id opens to other bytes\n" unless length $plain == $size && hmac_sha256_hex($plain, $dedup_key) eq $id;
    return $plain;
}

sub expanded {
    my $file = File::Temp->new;
    binmode $file;
    print {$file} shift;
    $file->flush;
    open my $pipe, '-|', "$option{zstd} < '$file'" or die "$option{zstd}: $!\n";
    binmode $pipe;
    local $/;
    my $out = <$pipe>;
    close $pipe or die "$option{zstd} has failed\n";
    return $out;
}
