import { ApiProperty } from '@nestjs/swagger';
import { ArrayNotEmpty, ArrayUnique, IsArray, IsIn, IsString, Length, Matches } from 'class-validator';
import { SCOPES, type Scope } from './scopes.js';

export class NewApiKey {
  @ApiProperty({ description: 'The app that uses this key, for people', minLength: 1, maxLength: 100 })
  @IsString()
  @Length(1, 100)
  @Matches(/^\S(.*\S)?$/, { message: 'name must not begin or end with a space or hold a line break' })
  name: string;

  @ApiProperty({
    enum: SCOPES,
    isArray: true,
    minItems: 1,
    uniqueItems: true,
    description: '`admin` includes all others',
  })
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(SCOPES, { each: true })
  scopes: Scope[];
}

export class CreatedApiKeyView {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty()
  name: string;

  @ApiProperty({ enum: SCOPES, isArray: true })
  scopes: readonly Scope[];

  @ApiProperty({ description: 'The key. It is shown only once; only its hash is stored' })
  key: string;

  @ApiProperty({ format: 'date-time' })
  createdAt: Date;
}

export class ApiKeyView {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty()
  name: string;

  @ApiProperty({ enum: SCOPES, isArray: true })
  scopes: Scope[];

  @ApiProperty({ format: 'date-time' })
  createdAt: Date;

  @ApiProperty({
    description: '`environment`, `cli`, or `key:` followed by the id of the key that created it',
  })
  createdBy: string;

  @ApiProperty({ format: 'date-time', type: String, nullable: true, description: 'Accurate to the minute' })
  lastUsedAt: Date | null;

  @ApiProperty({
    format: 'date-time',
    type: String,
    nullable: true,
    description: 'Every replica refuses the key within 5 seconds of this',
  })
  revokedAt: Date | null;
}
