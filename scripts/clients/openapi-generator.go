// Sends a message with the client that openapi-generator makes for Go, and reads it back.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"example.com/aldis"
)

func main() {
	configuration := aldis.NewConfiguration()
	configuration.Servers = aldis.ServerConfigurations{{URL: os.Getenv("ALDIS_URL")}}
	client := aldis.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), aldis.ContextAccessToken, os.Getenv("ALDIS_TOKEN"))
	plan := os.Getenv("ALDIS_PLAN")

	message := aldis.NewSendSmsRequest(
		plan, "SMS", os.Getenv("ALDIS_SENDER"), "+15551230001", "Sent by a generated client")
	send := client.MessagesAPI.SendSms(ctx).SendSmsRequest(*message).IdempotencyKey(os.Getenv("ALDIS_KEY"))
	sent, _, err := send.Execute()
	check(err)

	var record *aldis.DeliveryReceipt
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		record, _, err = client.MessagesAPI.GetMessage(ctx, sent.MsgId).ServicePlanId(plan).Execute()
		check(err)
		if record.Status == aldis.DELIVERED {
			break
		}
	}
	if record.Status != aldis.DELIVERED {
		log.Fatalf("the message is %s", record.Status)
	}

	page, _, err := client.MessagesAPI.ListMessages(ctx).ServicePlanId(plan).To("+15551230001").Execute()
	check(err)
	if len(page.Items) == 0 {
		log.Fatal("the list is empty")
	}

	message.To = "nobody"
	_, response, err := client.MessagesAPI.SendSms(ctx).SendSmsRequest(*message).Execute()
	var refused *aldis.GenericOpenAPIError
	if !errors.As(err, &refused) || response.StatusCode != 400 {
		log.Fatalf("a message to nobody was answered %v", err)
	}
	body, isErrorBody := refused.Model().(aldis.ErrorBody)
	if !isErrorBody || body.Errors[0].Field != "to" {
		log.Fatalf("the refusal is %v", refused.Model())
	}
	fmt.Println(sent.MsgId)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
