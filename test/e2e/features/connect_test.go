package features

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
)

// countRows has a Spark Connect server run a query and counts the rows of its result. The numbers are those of the fields
// in Spark's spark/connect/base.proto and relations.proto.
func countRows(ctx context.Context, address, query string) (int64, error) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true},
		"/spark.connect.SparkConnectService/ExecutePlan", grpc.ForceCodec(raw{}))
	if err != nil {
		return 0, err
	}
	const sessionID, userContext, plan = 1, 2, 3
	const userID, root, sql, sqlQuery = 1, 1, 10, 1
	request := message(sessionID, []byte("00112233-4455-6677-8899-aabbccddeeff"))
	request = append(request, message(userContext, message(userID, []byte("e2e")))...)
	request = append(request, message(plan, message(root, message(sql, message(sqlQuery, []byte(query)))))...)
	if err := errors.Join(stream.SendMsg(request), stream.CloseSend()); err != nil {
		return 0, err
	}
	var rows int64
	for {
		var response []byte
		switch err := stream.RecvMsg(&response); {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return 0, err
		}
		const arrowBatch, rowCount = 2, 1
		batch, _ := protowire.ConsumeBytes(field(response, arrowBatch))
		count, _ := protowire.ConsumeVarint(field(batch, rowCount))
		rows += int64(count)
	}
}

func message(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

// field is what a message has from the value of a field on; nil if it has no such field.
func field(message []byte, wanted protowire.Number) []byte {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil
		}
		message = message[tag:]
		if number == wanted {
			return message
		}
		length := protowire.ConsumeFieldValue(number, kind, message)
		if length < 0 {
			return nil
		}
		message = message[length:]
	}
	return nil
}

// raw passes messages through as they are.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(value any) ([]byte, error) {
	message, ok := value.([]byte)
	if !ok {
		return nil, fmt.Errorf("%T is no message", value)
	}
	return message, nil
}

func (raw) Unmarshal(data []byte, value any) error {
	message, ok := value.(*[]byte)
	if !ok {
		return fmt.Errorf("%T is no message", value)
	}
	*message = append([]byte(nil), data...)
	return nil
}
